import Bytes
import TestSupport
import Testing

@testable import Mail

/// An encoded text and its decoded bytes.
struct EncodedFixture: CustomTestStringConvertible, Sendable {
  enum Decoder: Sendable { case base64, quotedPrintable, quotedPrintableQuoted, unquoting, uu, yEnc }

  let decoder: Decoder
  let testDescription: String
  let encoded: [UInt8]
  let decoded: [UInt8]

  init(_ decoder: Decoder, _ description: String, _ encoded: String, _ decoded: String) {
    self.init(decoder, description, Array(encoded.utf8), Array(decoded.utf8))
  }

  init(_ decoder: Decoder, _ description: String, _ encoded: [UInt8], _ decoded: [UInt8]) {
    self.decoder = decoder
    testDescription = "\(decoder): \(description)"
    self.encoded = encoded
    self.decoded = decoded
  }

  static let all = [
    EncodedFixture(.base64, "plain", "SGVsbG8sIHdvcmxkIQ==", "Hello, world!"),
    EncodedFixture(.base64, "no padding", "SGVsbG8sIHdvcmxkIQ", "Hello, world!"),
    EncodedFixture(.base64, "junk and lines", "SGVs\r\nb*G8s\n IHd.vcm\rxkIQ==\r\n", "Hello, world!"),
    EncodedFixture(.base64, "lines of no whole groups", "SGVsb\nG8sIH\ndvcmx\nkIQ==", "Hello, world!"),
    EncodedFixture(.base64, "each line padded", "SGVsbG8=\nLCA=\nd29ybGQh\n", "Hello, world!"),
    EncodedFixture(.base64, "padding by three", "SGVsbA===\nLCA=", "Hell, "),
    EncodedFixture(.base64, "a footer behind padding", "SGk=\n\n-- \nThis list is moderated\n", "Hi"),
    EncodedFixture(.base64, "a delimiter nobody knows", "SGk=\n\n--B-->\nmore text", "Hi"),
    EncodedFixture(.base64, "a single character left over", "SGVsbG8hA", "Hello!"),
    EncodedFixture(.base64, "nothing", "", ""),
    EncodedFixture(.base64, "only padding", "====", ""),
    EncodedFixture(.quotedPrintable, "plain", "Gr=C3=BC=c3=9fe", "Grüße"),
    EncodedFixture(.quotedPrintable, "soft breaks", "one=\r\ntwo=\nthree= \t\nfour=", "onetwothreefour"),
    EncodedFixture(.quotedPrintable, "space before a line end", "one \t\r\ntwo \nthree  ", "one\r\ntwo\nthree"),
    EncodedFixture(.quotedPrintable, "an encoded space stays", "one=20\ntwo", "one \ntwo"),
    EncodedFixture(.quotedPrintable, "no numbers", "a=b =ZZ == =4 =\u{e4}", "a=b =ZZ == =4 =\u{e4}"),
    EncodedFixture(.quotedPrintable, "a soft break by CR", "one=\rtwo", "onetwo"),
    EncodedFixture(.quotedPrintable, "quoting is none", ">From x\n", ">From x\n"),
    EncodedFixture(
      .quotedPrintableQuoted, "quoted lines", ">From x\n>>From y\n>Fromage\nabc =\n>From z",
      "From x\n>From y\n>Fromage\nabc From z"),
    EncodedFixture(
      .unquoting, "quoted lines", ">From x\n >From\n>>>From y\n>From\n>From", "From x\n >From\n>>From y\n>From\n>From"),
    EncodedFixture(
      .unquoting, "lines that end in CR", "a\r>From x\r>>From y\rb\n>From", "a\rFrom x\r>From y\rb\n>From"),
    EncodedFixture(.unquoting, "lines that end in CRLF", "a\r\n>From x\r>From y", "a\r\nFrom x\r>From y"),
    EncodedFixture(.unquoting, "nothing to do", "From x\n> From", "From x\n> From"),
    EncodedFixture(.uu, "plain", "#0V%T\n`\nend\n", "Cat"),
    EncodedFixture(.uu, "a checksum behind", "#0V%TZ\r\n`\r\n", "Cat"),
    EncodedFixture(.uu, "spaces lost", Array("#\n#0V%T\n".utf8), [0, 0, 0] + Array("Cat".utf8)),
    EncodedFixture(
      .yEnc, "plain", [0x6d, 0x8b, 0x9e, 0x0d, 0x0a, 0x3d, 0x6e] + Array("\n=yend size=4".utf8),
      [0x43, 0x61, 0x74, 0x04]),
  ]

  func decode(_ input: [UInt8], _ seed: UInt64?) -> [UInt8] {
    switch decoder {
    case .base64: decode(Base64Decoder(), input, seed)
    case .quotedPrintable: decode(QuotedPrintableDecoder(isQuoted: false), input, seed)
    case .quotedPrintableQuoted: decode(QuotedPrintableDecoder(isQuoted: true), input, seed)
    case .unquoting: decode(UnquotingDecoder(), input, seed)
    case .uu: decode(UUDecoder(), input, seed)
    case .yEnc: decode(YEncDecoder(), input, seed)
    }
  }

  /// Decodes as a whole, or in blocks whose sizes are determined by `seed`.
  private func decode<Decoder: TransferDecoder>(_ decoder: Decoder, _ input: [UInt8], _ seed: UInt64?) -> [UInt8] {
    guard let seed else { return decoder.decoded(input) }
    var numbers = SeededNumbers(seed: seed)
    var decoder = decoder
    var output: [UInt8] = []
    var from = 0
    var smallest = 1
    while true {
      let count = min(smallest + numbers.below(7), input.count - from)
      let isLast = from + count == input.count
      let block = Array(input[from..<from + count])
      var made = [UInt8](repeating: 0, count: Decoder.growth * count + 16)
      let (used, size) = unsafe block.withUnsafeBytes { block in
        unsafe made.withUnsafeMutableBytes { unsafe decoder.decode(block, into: $0, isLast: isLast) }
      }
      output += made[..<size]
      from += used
      if isLast { return output }
      smallest = used == 0 ? smallest * 2 : 1
    }
  }

  func source(_ input: [UInt8]) throws -> any ByteSource {
    let source = ByteArraySource(input)
    let range = 0..<source.size
    return switch decoder {
    case .base64: try DecodedSource(decoding: range, of: source, with: Base64Decoder())
    case .quotedPrintable:
      try DecodedSource(decoding: range, of: source, with: QuotedPrintableDecoder(isQuoted: false))
    case .quotedPrintableQuoted:
      try DecodedSource(decoding: range, of: source, with: QuotedPrintableDecoder(isQuoted: true))
    case .unquoting: try DecodedSource(decoding: range, of: source, with: UnquotingDecoder())
    case .uu: try DecodedSource(decoding: range, of: source, with: UUDecoder())
    case .yEnc: try DecodedSource(decoding: range, of: source, with: YEncDecoder())
    }
  }
}

struct TransferDecoderTests {
  @Test(arguments: EncodedFixture.all) func encodedTextDecodesToExpectedBytes(_ fixture: EncodedFixture) throws {
    #expect(fixture.decode(fixture.encoded, nil) == fixture.decoded)
    let source = try fixture.source(fixture.encoded)
    #expect(source.size == Int64(fixture.decoded.count))
    #expect(try source.bytes(at: 0, count: fixture.decoded.count) == fixture.decoded)
  }

  /// What a source lacks is not taken for the end.
  @Test(arguments: [0, 1, 50, 99]) func truncatedSourceIsAFault(_ count: Int) {
    let source = ByteArraySource([UInt8](repeating: 65, count: count))
    #expect(throws: Fault.self) { try DecodedSource(decoding: 0..<100, of: source, with: Base64Decoder()) }
  }

  /// Block boundaries make no difference, whatever the bytes are.
  @Test(arguments: EncodedFixture.all) func decodingIsIndependentOfBlocks(_ fixture: EncodedFixture) {
    for seed in 0..<20 { #expect(fixture.decode(fixture.encoded, UInt64(seed)) == fixture.decoded) }
    var numbers = SeededNumbers(seed: 5)
    let alphabet = Array("=>From AB4z9+/ \t\r\n\r\n-y`#M".utf8)
    for seed in 0..<60 {
      let input = (0..<numbers.below(400)).map { _ in alphabet[numbers.below(alphabet.count)] }
      #expect(
        fixture.decode(input, UInt64(seed)) == fixture.decode(input, nil), "\(String(decoding: input, as: UTF8.self))")
    }
  }

  /// A read at any offset gives the same bytes as one from front to back, also across checkpoints.
  @Test(arguments: [EncodedFixture.Decoder.base64, .quotedPrintable, .quotedPrintableQuoted, .unquoting, .uu, .yEnc])
  func decodedSourceReadsAtAnyOffset(_ decoder: EncodedFixture.Decoder) throws {
    var numbers = SeededNumbers(seed: 11)
    var input: [UInt8] = []
    while input.count < 700_000 {
      switch decoder {
      case .base64: input += (0..<76).map { _ in Array("ABCDwxyz0189+/".utf8)[numbers.below(14)] } + [0x0d, 0x0a]
      case .uu: input += [0x4d] + (0..<60).map { _ in UInt8(0x21 + numbers.below(64)) } + [0x0a]
      case .yEnc: input += numbers.bytes(128).map { [0, 0x0a, 0x0d, 0x3d].contains($0) ? 0x41 : $0 } + [0x0a]
      case .quotedPrintable, .quotedPrintableQuoted, .unquoting:
        let lines = [">From a\n", "caf=C3=A9 = \n", "x  \r\n", "=\n", ">>From =3D\n", "plain text of a line"]
        input += lines[numbers.below(lines.count)].utf8
      }
    }
    let fixture = EncodedFixture(decoder, "", input, [])
    let expected = fixture.decode(input, nil)
    let source = try fixture.source(input)
    try #require(source.size == Int64(expected.count))
    for _ in 0..<120 {
      let offset = numbers.below(expected.count)
      let count = numbers.below(numbers.below(8) == 0 ? 300_000 : 5000)
      let found = try source.partialBytes(at: Int64(offset), count: count)
      #expect(found.elementsEqual(expected[offset..<min(expected.count, offset + count)]))
    }
  }

  /// A source that changes during decoding is a fault, not different bytes of the same size.
  @Test func sourceChangedWhileDecodingThrows() throws {
    let bytes = Array(repeating: UInt8(ascii: "A"), count: 100_000)
    let failing = FailingSource(ByteArraySource(bytes)) { read, _ in
      read < 2 ? nil : Fault(.changed, "changed")
    }
    let source = try DecodedSource(decoding: 0..<100_000, of: failing, with: Base64Decoder())
    #expect(throws: Fault.self) { try source.bytes(at: 0, count: 10) }
  }
}
