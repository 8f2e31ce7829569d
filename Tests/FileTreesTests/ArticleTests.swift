import FileTrees
import Foundation
import SystemPackage
import Testing

/// The code of the article “Use ffmount from Swift” is here and in the examples, so that it is compiled and run.
@Suite(.timeLimit(.minutes(5)))
struct ArticleTests {
  @Test func codeOfTheArticleRuns() async throws {
    let sample = try Sample("letters.zip", "club.mbox", "harbour.png")
    let folder = sample.path("")
    let tree = try FileTree(at: FilePath(folder))
    for try await entry in tree.entries() where entry.view == "contents" {
      for try await inside in tree.entries(of: entry.path) { print(inside.name, inside.size) }
    }
    let letter = try await tree.text("letters.zip.contents/2023/Grüße aus Köln.txt")

    var hash: UInt64 = 0
    for try await byte in tree.bytes(of: "letters.zip.contents/2024/harbour.png") { hash = hash &* 31 &+ UInt64(byte) }

    for try await message in tree.messages(matching: "from:mary has:attachment", in: "club.mbox") {
      print(message.sender, message.subject, message.path)
    }

    for try await hit in tree.documents(matching: "invoice kind:mail date:2024") {
      print(hit.rank, hit.path, hit.snippet)
    }

    let conversion = tree.convert("harbour.png", to: .jpeg, options: .init(longestSide: 100))
    for await fraction in conversion.progress { print("\(Int(fraction * 100)) %") }
    try await tree.copy(conversion.result(), to: "small.jpg")

    try await tree.createDirectory("notes/2024", intermediates: true)
    try await tree.save(Array(letter.utf8), to: "notes/2024/letter.txt")
    do throws(FileTreeError) {
      try await tree.remove("letters.zip.contents/drafts.zip")
    } catch {
      guard error.code == .readOnlyView else { throw error }
      print(error)
    }
    try await tree.copy("letters.zip.contents", to: "letters") { print("\(Int($0.fraction * 100)) %") }
    try await tree.setAttributes(.init(permissions: [.ownerRead]), of: "letters/drafts.zip")
    try await tree.setExtendedAttribute("user.origin", to: Array("letters.zip".utf8), of: "letters")
    try await tree.createSymbolicLink("latest", to: "letters/2024")

    let journal = try await tree.open("journal", .readWrite, options: [.create, .exclusiveCreate])
    try await journal.write(Array("first".utf8), at: 4096)
    try await journal.append(Array(" and last".utf8))
    try await journal.synchronize()
    print(try await journal.read(at: 4096, count: 5))
    try await journal.close()

    let changes = try await tree.watch("notes")
    try await tree.rename("notes/2024", to: "notes/old")
    for try await change in changes {
      print(change.kind, change.path)
      if change.kind == .renamed { break }
    }

    #expect(hash != 0)
    #expect(try sample.bytes(of: "notes/old/letter.txt") == Array(letter.utf8))
    #expect(try sample.bytes(of: "journal").suffix(14) == ArraySlice("first and last".utf8))
    #expect(try await tree.read("letters.zip.contents/2024/harbour.png") == sample.bytes(of: "latest/harbour.png"))
    #expect(try sample.bytes(of: "small.jpg").starts(with: [0xff, 0xd8]))
    await tree.close()
  }

  @Test func codeOfTheArticleIsCompiled() throws {
    let own = URL(filePath: #filePath)
    let root = own.deletingLastPathComponent().appending(path: "../..")
    let article = root.appending(path: "Sources/Programs/ffmount/ffmount.docc/UseFromSwift.md")
    let sources = [
      own, root.appending(path: "Sources/Examples/largest-attachments/LargestAttachments.swift"),
      root.appending(path: "Sources/Examples/pdf-thumbnails/PDFThumbnails.swift"),
    ]
    let compiled = try sources.map { trimmed(try String(contentsOf: $0, encoding: .utf8)) }
    let pieces = try String(contentsOf: article, encoding: .utf8).components(separatedBy: "```swift\n").dropFirst()
    #expect(pieces.count >= 9)
    for piece in pieces {
      let code = trimmed(piece.components(separatedBy: "```")[0])
      #expect(compiled.contains { $0.contains(code) }, "\(code)")
    }
  }

  /// Without indentation.
  private func trimmed(_ text: String) -> String {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
  }
}
