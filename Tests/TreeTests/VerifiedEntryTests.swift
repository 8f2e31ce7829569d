import Bytes
import TestSupport
import Testing
import Tree

/// Whether the bytes of an archive's entry have been compared with its checksum.
@Suite struct VerifiedEntryTests {
  /// A program that looks at the start of a file does not revoke the comparison of all bytes.
  @Test(arguments: [false, true]) func comparedEntryStaysCompared(isDeflated: Bool) async throws {
    try await offThread {
      Result {
        let source = try SourceFolder()
        let content = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8 ^ $0 >> 15) }
        let entry = ZipFixtureEntry("f", content)
        try source.write("a.zip", ZipFixture(isDeflated ? entry.deflated() : entry))
        let tree = try TreeInProcess(source)
        defer { tree.tree.stop() }
        func state(afterReading count: Int) throws -> String {
          let bytes = try tree.read("a.zip.contents/f", at: 0, count: count)
          #expect(bytes.count == count)
          return String(decoding: try tree.attribute("a.zip.contents/f", "user.ffmount.state"), as: UTF8.self)
        }
        #expect(try state(afterReading: 1000) == "unverified")
        #expect(try state(afterReading: content.count) == "exact")
        #expect(try state(afterReading: 1000) == "exact")
      }
    }.get()
  }
}
