import Testing

@testable import Disks

/// Links of Windows' file systems, which hostile images can contain.
@Suite struct ReparsePointTests {
  private func little(_ value: Int, _ width: Int = 2) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private func units(_ text: String) -> [UInt8] { text.utf16.flatMap { little(Int($0)) } }

  private func point(_ tag: Int, _ body: [UInt8], size: Int? = nil) -> [UInt8] {
    little(tag, 4) + little(size ?? body.count) + little(0) + body
  }

  /// A link or junction with both names.
  private func names(_ tag: Int, real: String, printed: String, size: Int? = nil) -> [UInt8] {
    let (one, other) = (units(real), units(printed))
    let head = little(0) + little(one.count) + little(one.count) + little(other.count)
    return point(tag, head + (tag == 0xa000_000c ? little(1, 4) : []) + one + other, size: size)
  }

  private func target(_ bytes: [UInt8]) -> String? {
    ReparsePoint(bytes).map { String(decoding: $0.target, as: UTF8.self) }
  }

  @Test(arguments: [0xa000_0003, 0xa000_000c]) func printedNameIsPreferred(_ tag: Int) {
    #expect(target(names(tag, real: #"\??\C:\a\b"#, printed: #"C:\a"#)) == "C:/a")
    #expect(target(names(tag, real: #"\??\C:\a\ü"#, printed: "")) == "C:/a/ü")
    #expect(
      target(names(tag, real: #"..\x"#, printed: "\0")) == nil && target(names(tag, real: "", printed: "")) == nil)
    // What follows a NUL is not part of the name.
    #expect(target(names(tag, real: "x", printed: "a\0b")) == "a")
    let whole = names(tag, real: "real", printed: "printed")
    for count in 0..<whole.count { #expect(target(Array(whole.prefix(count))) == nil, "\(count)") }
    // A name that is not within the point is that of other bytes.
    #expect(target(names(tag, real: "real", printed: "printed", size: whole.count - 9) + [1]) == "real")
    #expect(target(names(tag, real: "real", printed: "printed", size: 0xffff)) == nil)
  }

  @Test func linksOfLinuxAreBytes() {
    #expect(target(point(0xa000_001d, little(2, 4) + Array("../ä\\b".utf8))) == "../ä\\b")
    #expect(target(point(0xa000_001d, little(2, 4))) == nil && target(point(0xa000_001d, [])) == nil)
    #expect(target(point(0xa000_001d, little(2, 4) + Array("a\0b".utf8))) == nil)
  }

  @Test func otherPointsAreNoLinks() {
    #expect(target(point(0x8000_0013, little(2, 4) + Array("x".utf8))) == nil && target([]) == nil)
  }
}
