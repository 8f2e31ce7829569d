import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LibraryConversionTests {
  @Test func pictureIsConvertedWithProgress() async throws {
    let sample = try Sample("harbour.png")
    let conversion = sample.tree.convert("harbour.png", to: .jpeg, options: .init(longestSide: 64, quality: 80))
    var fractions: [Double] = []
    for await fraction in conversion.progress { fractions.append(fraction) }
    #expect(fractions.last == 1)
    #expect(fractions == fractions.sorted() && Set(fractions).count == fractions.count)
    let path = try await conversion.result()
    #expect(path == "harbour.png.64px.q80.as-jpeg")
    let bytes = try await sample.tree.read(path)
    #expect(bytes.starts(with: [0xff, 0xd8, 0xff]))
    try await sample.tree.copy(path, to: "small.jpg")
    #expect(try sample.bytes(of: "small.jpg") == bytes)
    #expect(try await sample.tree.attributes(of: path).isSizeExact)
  }

  @Test func impossibleConversionsThrow() async throws {
    let sample = try Sample("harbour.png", "readme.txt")
    await expectError(.unsupported, "harbour.png") { () throws(FileTreeError) in
      _ = try await sample.tree.convert("harbour.png", to: "mp3").result()
    }
    await expectError(.notFound, "none.png") { () throws(FileTreeError) in
      _ = try await sample.tree.convert("none.png", to: .jpeg).result()
    }
    try sample.write(sample.bytes(of: "harbour.png").prefix(200), to: "cut.png")
    await expectError(.damaged, "cut.png") { () throws(FileTreeError) in
      _ = try await sample.tree.convert("cut.png", to: .jpeg).result()
    }
  }

  @Test func aConversionCanBeCancelled() async throws {
    let sample = try Sample("harbour.png")
    let conversion = sample.tree.convert("harbour.png", to: .webp, options: .init(longestSide: 32))
    conversion.cancel()
    await expectError(.cancelled, "harbour.png") { () throws(FileTreeError) in _ = try await conversion.result() }
    for await fraction in conversion.progress { #expect(fraction <= 1) }
    let again = try await sample.tree.convert("harbour.png", to: .webp, options: .init(longestSide: 32)).result()
    #expect(try await !sample.tree.read(again).isEmpty)
  }

  @Test func conversionViewsRequireWorkers() async throws {
    let sample = try Sample("harbour.png") { $0.converts = false }
    #expect(try await sample.tree.views(of: "harbour.png").isEmpty)
    await expectError(.unsupported, "harbour.png") { () throws(FileTreeError) in
      _ = try await sample.tree.convert("harbour.png", to: .jpeg).result()
    }
  }
}
