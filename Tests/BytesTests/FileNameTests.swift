import Bytes
import Testing

@Suite struct FileNameTests {
  @Test(
    arguments: [
      ("a.zip.contents", "a.zip"), (".contents", nil), ("contents", nil), ("a.contentsx", nil), ("a.Contents", nil),
      ("..contents", "."), ("a.contents.contents", "a.contents"), ("", nil),
    ] as [(String, String?)])
  func suffixIsDroppedIfRestIsNotEmpty(name: String, rest: String?) {
    #expect(FileName(name).dropping(suffix: ".contents") == rest.map { FileName($0) })
  }

  @Test(
    arguments: [
      ("a.zip", "zip"), ("a.ZiP", "zip"), ("a.tar.gz", "gz"), ("a.x", "x"), ("a b.12345678", "12345678"), ("a", nil),
      (".zip", nil), ("a.", nil), ("", nil), (".", nil), ("..", nil), ("a.z ip", "z ip"), ("..zip", "zip"),
    ] as [(String, String?)])
  func extensionFollowsLastDot(name: String, expected: String?) {
    #expect(FileName(name).fileExtension == expected.map { FileExtension($0.utf8) })
    #expect(ListedName(FileName(name)).fileExtension == expected.map { FileExtension($0.utf8) })
  }

  @Test func overlongExtensionEqualsNoOther() {
    let long = FileName("a.123456789").fileExtension
    #expect(long != nil)
    for name in ["a.12345678", "a.23456789", "a.zip"] { #expect(FileName(name).fileExtension != long) }
  }

  @Test func nonASCIIExtensionsAreCaseSensitive() {
    #expect(FileName("a.É").fileExtension != FileName("a.é").fileExtension)
  }

  @Test func namesAreComparedAsBytes() {
    let bytes: [UInt8] = [0xff, 0x20, 0xc3]
    let name = FileName(bytes)
    #expect(Array(name.bytes) == bytes && name.count == 3)
    #expect(name.text == "\u{fffd} \u{fffd}")
    #expect(FileName("é") != FileName("e\u{301}"))
    #expect(FileName(bytes[1...]) == FileName(Array(bytes[1...])))
    #expect(unsafe name.withCString { unsafe FileName($0) } == name)
    #expect(FileName("a").appending(".contents") == "a.contents")
  }

  @Test func equalNamesHashAlike() {
    #expect(Set([FileName("a"), FileName([0x61]), "a", FileName("b")]).count == 2)
  }

  @Test func listedNameIsSliceOfItsBlock() {
    let block: [UInt8] = Array("one\0two\0".utf8)
    let name = ListedName(in: block, 4..<7)
    #expect(name.fileName == "two" && name.count == 3 && Array(name.bytes) == Array("two".utf8))
    #expect(unsafe name.withCString { unsafe FileName($0) } == "two")
  }
}
