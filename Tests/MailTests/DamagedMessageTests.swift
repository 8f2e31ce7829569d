import Bytes
import TestSupport
import Testing

@testable import Mail

struct DamagedMessageTests {
  /// No change of bytes makes a message unreadable.
  @Test func mutatedMessagesRemainReadable() throws {
    var numbers = SeededNumbers(seed: 17)
    for fixture in MessageFixture.all {
      for _ in 0..<30 {
        var bytes = Array(fixture.text.utf8)
        for _ in 0..<1 + numbers.below(6) {
          bytes[numbers.below(bytes.count)] = numbers.below(3) == 0 ? 0x0a : UInt8(numbers.below(256))
        }
        bytes.removeLast(numbers.below(4) == 0 ? numbers.below(bytes.count) : 0)
        let mail = try OpenMail(bytes, isQuoted: numbers.below(2) == 0)
        _ = try mail.body
        _ = try mail.html
        _ = try mail.message.headersText()
        for attachment in mail.message.attachments { _ = try mail.bytes(mail.message.open(attachment)) }
        #expect(Set(mail.names).count == mail.names.count)
      }
    }
  }

  @Test func deepAndWideMultipartsAreRead() throws {
    var deep = ""
    for level in 0..<10_000 { deep += "Content-Type: multipart/mixed; boundary=b\(level)\n\n--b\(level)\n" }
    #expect(try OpenMail(deep + "\nhello\n").body == "hello\n")
    let part = "--b\nContent-Type: image/png; name=a.png\n\nx\n"
    let wide = try OpenMail("Content-Type: multipart/mixed; boundary=b\n\n" + String(repeating: part, count: 5000))
    #expect(wide.names.count == 5000 && wide.names.last == "a (4999).png")
  }
}
