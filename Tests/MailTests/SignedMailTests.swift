import Bytes
import TestSupport
import Testing

@testable import Mail

/// Opaque S/MIME: the signed content is shown as if it were not signed.
@Suite(.timeLimit(.minutes(5))) struct SignedMailTests {
  /// BER encodings.
  enum Form: CaseIterable {
    case definite
    /// Lengths with leading zeros.
    case padded
    /// Indefinite lengths, and the content in segments.
    case indefinite
    /// Nested segments, one of them empty.
    case nested
  }

  private static func element(_ tag: UInt8, _ content: [UInt8], _ form: Form) -> [UInt8] {
    if form == .indefinite || form == .nested, tag & 0x20 != 0 { return [tag, 0x80] + content + [0, 0] }
    let count = content.count
    if form == .definite, count < 128 { return [tag, UInt8(count)] + content }
    return [tag, 0x84] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + content
  }

  private static func octets(_ content: [UInt8], _ form: Form) -> [UInt8] {
    if form == .definite || form == .padded { return element(0x04, content, form) }
    let pieces = stride(from: 0, to: content.count, by: 100).map { start in
      element(0x04, Array(content[start..<min(content.count, start + 100)]), .definite)
    }
    if form == .indefinite { return element(0x24, pieces.flatMap { $0 }, form) }
    return element(
      0x24, [4, 0] + element(0x24, Array(pieces.prefix(2).joined()), .definite) + pieces.dropFirst(2).joined(), form)
  }

  /// ContentInfo of a SignedData, with invalid certificates and signatures.
  static func signed(
    _ content: String, _ form: Form = .definite, type: UInt8 = 2, isDetached: Bool = false
  ) -> [UInt8] {
    let identifier: [UInt8] = [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 7]
    let algorithms = element(0x31, element(0x30, [0x06, 3, 1, 2, 3, 5, 0], form), form)
    let octets = octets(Array(content.utf8), form)
    let inner = element(0x30, identifier + [1] + (isDetached ? [] : element(0xa0, octets, form)), form)
    let rest = element(0xa0, [UInt8](repeating: 0x30, count: 300), .definite) + element(0x31, [], form)
    let data = element(0x30, [2, 1, 1] + algorithms + inner + rest, form)
    return element(0x30, identifier + [type] + element(0xa0, data, form), form)
  }

  static func part(_ content: [UInt8], type: String = "pkcs7-mime; smime-type=signed-data") -> String {
    let source = Base64Source(ByteArraySource(content))
    let text = (try? source.bytes(at: 0, count: Int(source.size))) ?? []
    return """
      Content-Type: application/\(type); name="smime.p7m"
      Content-Disposition: attachment; filename="smime.p7m"
      Content-Transfer-Encoding: base64

      \(String(decoding: text, as: UTF8.self))
      """
  }

  private static let entity = """
    Content-Type: multipart/mixed; boundary=b

    --b
    Content-Type: text/plain; charset=iso-8859-1
    Content-Transfer-Encoding: quoted-printable

    Gr=FC=DFe
    >From here on, signed.
    --b
    Content-Disposition: attachment; filename=list.csv

    a,b
    \(String(repeating: "1,2\n", count: 300))
    --b--

    """

  @Test(arguments: Form.allCases) func signedContentIsShown(_ form: Form) throws {
    let mail = try OpenMail(
      "Subject: one\nMIME-Version: 1.0\n" + Self.part(Self.signed(Self.entity, form)), isQuoted: true)
    #expect(try mail.body == "Grüße\n>From here on, signed.")
    #expect(mail.names == ["list.csv"])
    #expect(try mail.text("list.csv")?.hasPrefix("a,b\n1,2\n") == true && mail.file("list.csv")?.count == 1204)
    #expect(String(decoding: try mail.message.headersText(), as: UTF8.self).hasPrefix("Subject: one\n"))
    #expect(mail.message.fault == nil)
    #expect(String(decoding: try mail.message.words().body, as: UTF8.self).contains("Grüße"))
  }

  @Test func nestedSignedContentIsFound() throws {
    let plain = Self.signed("Content-Type: text/plain\n\ninner\n")
    // Signed twice.
    let twice = Self.part(Self.signed(Self.part(plain), .indefinite), type: "octet-stream")
    #expect(try OpenMail(twice).body == "inner\n")
    // A mailing list has appended its own text.
    let listed = try OpenMail(
      """
      Content-Type: multipart/mixed; boundary=l

      --l
      \(Self.part(plain, type: "x-pkcs7-mime"))
      --l
      Content-Type: text/plain

      the list's
      --l--

      """)
    #expect(try listed.body == "inner\nthe list's" && listed.names == [])
  }

  @Test func invalidSignedDataStaysAnAttachment() throws {
    let data = Self.signed("Subject: x\n\ntext")
    for (name, content) in [
      ("encrypted", Self.signed("x", type: 3)), ("nothing", []), ("noise", [UInt8](repeating: 0xff, count: 500)),
      ("cut early", Array(data.prefix(30))), ("longest length", [0x30, 0xfe] + [UInt8](repeating: 0x7f, count: 200)),
      ("open for ever", [UInt8](repeating: 0x30, count: 1) + [0x80]),
      ("detached", Self.signed("", isDetached: true)),
    ] {
      let mail = try OpenMail(Self.part(content))
      #expect(mail.names == ["smime.p7m"], "\(name)")
      #expect(try mail.file("smime.p7m") == content, "\(name)")
    }
  }

  @Test func truncatedSignedContentIsShownPartially() throws {
    for form in Form.allCases {
      let data = Self.signed("Content-Type: text/plain\n\n" + String(repeating: "line\n", count: 100), form)
      let mail = try OpenMail(Self.part(Array(data.prefix(data.count / 2))))
      #expect(try mail.body.hasPrefix("line\nline\n") && mail.names == [], "\(form)")
      #expect(mail.message.fault?.kind == .damaged, "\(form)")
    }
  }

  /// Any replaced bytes, and any truncation, are read or rejected.
  @Test func damagedSignedContentIsReadOrRefused() throws {
    var numbers = SeededNumbers(seed: 8)
    for round in 0..<500 {
      var data = Self.signed(Self.entity, Form.allCases[round % 4])
      for _ in 0..<1 + Int(numbers.next() % 4) {
        data[Int(numbers.next() % UInt64(min(120, data.count)))] = UInt8(truncatingIfNeeded: numbers.next())
      }
      let mail = try OpenMail(Self.part(Array(data.prefix(data.count - Int(numbers.next() % 400)))))
      _ = try mail.body
      for name in mail.names { _ = try mail.file(name) }
    }
  }

  @Test func base64SourceReadsAtAnyOffset() throws {
    for count in [0, 1, 2, 3, 56, 57, 58, 113, 114, 20_000] {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let source = Base64Source(ByteArraySource(bytes))
      let whole = try source.bytes(at: 0, count: Int(source.size))
      #expect(whole.count == Int(source.size))
      let decoded = try DecodedSource(decoding: 0..<source.size, of: source, with: Base64Decoder())
      #expect(try decoded.bytes(at: 0, count: Int(decoded.size)) == bytes)
      for place in stride(from: 0, to: whole.count, by: 1 + whole.count / 97) {
        let part = min(200, whole.count - place)
        #expect(try source.bytes(at: Int64(place), count: part) == Array(whole[place..<place + part]))
      }
    }
  }
}
