import TestSupport
import Testing

@testable import Mail

/// The results of Python's email package for the same bytes, unless a comment says otherwise.
@Suite struct HeaderTests {
  static let section =
    "Received: from a\n\tby b;\n Mon, 1 Jan\nSubject : one\nno field\n>From x\nFrom x\nTO: a@x,\n  b@x\nsubject: two\nEmpty:\n\nBody: x\n"

  @Test(arguments: ["\n", "\r\n", "\r"]) func headerFieldsAreParsed(_ lineEnd: String) {
    let text = String(Self.section.map { $0 == "\n" ? "|" : $0 }).split(
      separator: "|", omittingEmptySubsequences: false
    )
    .joined(separator: lineEnd)
    let bytes = Array(text.utf8)
    let header = Header(bytes[...])
    #expect(header.isWhole)
    #expect(
      header.fields.map { String(decoding: header.name(of: $0), as: UTF8.self) } == [
        "Received", "Subject", "TO", "subject", "Empty",
      ])
    #expect(header.text("subject") == "one")
    #expect(header.all("subject").map { Array($0) } == [Array("one".utf8), Array("two".utf8)])
    #expect(header.text("received") == "from a by b; Mon, 1 Jan")
    #expect(header.text("to") == "a@x,  b@x")
    #expect(header.first("empty") == [])
    #expect(header.first("body") == nil)
    let end = Header.end(of: bytes[...])
    #expect(end.map { Array(bytes[$0...].prefix(4)) } == Array("Body".utf8))
    #expect(end == header.bytes.count)
  }

  @Test func headerWithoutEndIsIncomplete() {
    let header = Header(Array("A: b\nC: d".utf8)[...])
    #expect(!header.isWhole)
    #expect(header.text("c") == "d")
    #expect(Header.end(of: Array("A: b\n".utf8)[...]) == nil)
    #expect(Header.end(of: Array("\nbody".utf8)[...]) == 1)
  }

  @Test func headerSizeAndFieldCountAreLimited() {
    let long = Array("A: ".utf8) + [UInt8](repeating: 0x78, count: 3 << 20) + Array("\nB: c\n\n".utf8)
    let header = Header(long[...])
    #expect(header.bytes.count == Header.limit && header.fields.count == 1 && !header.isWhole)
    let many = Array(String(repeating: "a:b\n", count: 100_000).utf8)
    #expect(Header(many[...]).fields.count == Header.fieldLimit)
  }

  static let words: [(raw: [UInt8], text: String)] = [
    (Array("plain".utf8), "plain"), (Array("  a\r\n b\n\tc ".utf8), "a b c"),
    (Array("=?utf-8?Q?Gr=C3=BC=C3=9Fe_x?= y".utf8), "Grüße x y"), (Array("=?ISO-8859-1?B?R3L832U?=".utf8), "Grüße"),
    (Array("=?utf-8?b?R3LDvA==?=\n =?UTF-8?b?w59l?=".utf8), "Grüße"),
    // A character split across words, which Python decodes to two U+FFFD.
    (Array("=?utf-8?q?=C3?= =?utf-8?q?=BC?=".utf8), "ü"), (Array("a =?utf-8?q?b?= c =?utf-8?q?d?=".utf8), "a b c d"),
    (Array("\"=?utf-8?q?M=C3=BCller?=\" <a@x>".utf8), "\"Müller\" <a@x>"),
    (Array("=?utf-8*de?q?=C3=A4?=".utf8), "ä"), (Array("=?utf-8?q?a b?=".utf8), "a b"),
    (Array("=?utf-8?q?What??=".utf8), "What?"), (Array("=?x-unheard?q?=C3=A4?=".utf8), "ä"),
    (Array("=?us-ascii?q?=E4?=".utf8), "ä"), (Array("=?utf-8?x?a?=".utf8), "=?utf-8?x?a?="),
    (Array("=?utf-8?q?open".utf8), "=?utf-8?q?open"), (Array("=?=?=?".utf8), "=?=?=?"),
    (Array("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=".utf8), "日本"),
    (Array("=?iso-2022-jp?B?GyRCRnw=?= =?iso-2022-jp?B?S1wbKEI=?=".utf8), "日本"),
    (Array("=?gb2312?B?1tDOxA==?=".utf8), "中文"), (Array("=?ks_c_5601-1987?B?x9GxuQ==?=".utf8), "한국"),
    (Array("=?koi8-r?Q?=F0=D2=C9?=".utf8), "При"), (Array("=?windows-1252?q?=80_=81?=".utf8), "€ \u{fffd}"),
    ([0x47, 0x72, 0xc3, 0xbc], "Grü"), ([0x47, 0x72, 0xfc], "Grü"),
  ]

  @Test(arguments: words) func encodedWordsAreDecoded(_ word: (raw: [UInt8], text: String)) {
    #expect(EncodedWords.decode(word.raw[...]) == word.text)
  }

  static let addresses: [(raw: String, name: String?, address: String)] = [
    ("a@x.org", nil, "a@x.org"), ("<a@x.org>", nil, "a@x.org"), ("Ann Lee <a@x.org>, b@y", "Ann Lee", "a@x.org"),
    ("\"Lee, Ann\" <a@x.org>", "Lee, Ann", "a@x.org"), ("\"a@b\" <a@b>", "a@b", "a@b"),
    ("\"T \\\"B\\\" H\" <t@x>", "T \"B\" H", "t@x"), ("a@x.org (Ann Lee)", "Ann Lee", "a@x.org"),
    ("Friends: Ann <a@x>, b@y;", "Ann", "a@x"), ("undisclosed-recipients:;", nil, ""),
    ("Lee, Ann <a@x>", "Lee, Ann", "a@x"), ("Ann Lee a@x.org", "Ann Lee", "a@x.org"),
    ("Ann <a@x.org", "Ann", "a@x.org"),
    ("=?utf-8?q?J=C3=BCrgen?= <j@x>", "Jürgen", "j@x"), ("\"=?utf-8?q?J=C3=BCrgen?=\" <j@x>", "Jürgen", "j@x"),
    ("<@a,@b:c@d>", nil, "c@d"), ("Ann (aka (nested) x) <a@x>", "Ann", "a@x"), ("just a name", "just a name", ""),
    ("Ann\n\tLee\n <a@x>", "Ann Lee", "a@x"), ("\"john doe\"@x.org", nil, "\"john doe\"@x.org"),
    ("a@x, Ann <b@x>", nil, "a@x"), ("O'Neil B. <o@x>", "O'Neil B.", "o@x"), ("\"\" <a@x>", nil, "a@x"),
  ]

  @Test(arguments: addresses) func readsAddresses(_ fixture: (raw: String, name: String?, address: String)) {
    let found = MailAddress(firstOf: Array(fixture.raw.utf8)[...])
    #expect(found?.displayName == fixture.name)
    #expect(found?.address ?? "" == fixture.address)
  }

  static let dates: [(raw: String, seconds: Int64?, zone: Int)] = [
    ("Tue, 05 Jan 2010 10:00:00 +0200", 1_262_678_400, 120), ("5 Jan 2010 10:00 -0530", 1_262_705_400, -330),
    ("Tue, 5 Jan 10 10:00:00 GMT", 1_262_685_600, 0), ("Tue, 5 Jan 99 10:00:00 EST", 915_548_400, -300),
    ("Tue Jan  5 10:00:00 2010", 1_262_685_600, 0), ("Tue Jan  5 10:00:00 CET 2010", 1_262_682_000, 60),
    ("Tue Jan 05 10:00:00 +0100 2010", 1_262_682_000, 60), ("5 Jan 110 10:00:00 +0000", 1_262_685_600, 0),
    ("Tue, 5 January 2010 10:00:00 (noon) +0000 (UTC)", 1_262_685_600, 0), ("2010-01-05T10:00:00Z", 1_262_685_600, 0),
    ("2010-01-05 10:00:00+01:00", 1_262_682_000, 60), ("5-Jan-2010 10:00:00", 1_262_685_600, 0),
    ("Di, 5 Okt 2010 10:00:00 +0200", 1_286_265_600, 120), ("5 Jan 2010 10:00 PM", 1_262_728_800, 0),
    ("Tue, 5 Jan 2010 10:00:00.123 XYZ", 1_262_685_600, 0), ("Tue, 5 Jan 2010 10:00:00 +9999", 1_262_685_600, 0),
    // No zone offset has 75 minutes.
    ("5 Jan 2010 10:00:00 +0175", 1_262_685_600, 0), ("1 Jan 1970 00:00:00 +0000", 0, 0),
    ("Tue,5Jan2010 10:00:00 +0000", 1_262_685_600, 0), ("29 Feb 2000 23:59:60 +0000", 951_868_800, 0),
    ("31 Dec 1969 23:00:00 +0000", -3600, 0),
    ("=?utf-8?Q?Mon,_6_May_2024_10:00:00_+0000?=", 1_714_989_600, 0), ("05/06/2024 10:00 AM", 1_714_989_600, 0),
    ("Mon, 6 May 2024 10.00.00 +0200", 1_714_982_400, 120), ("6.5.2024 10:00", 1_714_989_600, 0),
    ("13/05/2024 10:00 PM", 1_715_637_600, 0), ("20240506T100000Z", 1_714_989_600, 0), ("1714989600", 1_714_989_600, 0),
    ("Mon May  6 10.00.00 2024", 1_714_989_600, 0), ("20241306T100000Z", nil, 0),
    ("20240006T100000Z", nil, 0), ("20240506T1005Z", 1_714_989_900, 0), ("20240506T100Z", nil, 0),
    // Two digits: the last year of this century, the first of the previous one.
    ("5 Jan 49 10:00:00 +0000", 2_493_453_600, 0), ("5 Jan 50 10:00:00 +0000", -630_770_400, 0),
    ("", nil, 0), ("tomorrow", nil, 0), ("32 Jan 2010 10:00:00", nil, 0), ("5 Foo 2010 10:00:00", nil, 0),
    ("Jan 2010", nil, 0), ("5 Jan 2010 25:00:00", nil, 0), ("99999999999999999999 Jan 2010", nil, 0),
  ]

  /// Charset names are untrusted: unknown ones must not be cached.
  @Test func unknownCharsetsAreNotCached() {
    for number in 0..<1000 {
      #expect(Charset.text([0xe4], named: Array("x-none-\(number)".utf8)[...]) == "ä")
    }
    #expect(Charset.converterCount <= 200)
    #expect(Charset.text([0xb1], named: Array("iso-8859-2".utf8)[...]) == "ą")
  }

  @Test(arguments: dates) func readsDates(_ fixture: (raw: String, seconds: Int64?, zone: Int)) {
    let date = MailDate(Array(fixture.raw.utf8)[...])
    #expect(date?.seconds == fixture.seconds)
    #expect(date?.zoneMinutes ?? 0 == fixture.zone)
  }

  static let parameters: [(raw: String, name: String?)] = [
    ("attachment; filename=a.pdf", "a.pdf"), ("attachment; filename=\"a b.pdf\"", "a b.pdf"),
    ("attachment; filename=a b.pdf; size=3", "a b.pdf"), ("attachment;; ; FileName = \"a.pdf\"", "a.pdf"),
    ("attachment; filename=\"a.pdf", "a.pdf"), ("attachment; filename=\"a.pdf; size=3", "a.pdf"),
    ("attachment; filename=\"a\\\"b.pdf\"", "a\"b.pdf"),
    ("attachment; filename=\"C:\\Users\\b.pdf\"", "C:\\Users\\b.pdf"),
    ("attachment; filename=\"C:\\\\Users\\\\b.pdf\"", "C:\\Users\\b.pdf"),
    ("attachment; filename=a.pdf; filename=b.pdf", "a.pdf"), ("attachment (x;y) ; (z) filename=a.pdf (c)", "a.pdf"),
    ("attachment; filename*=UTF-8''Gr%C3%BC.pdf", "Grü.pdf"),
    ("attachment; filename*=iso-8859-1'de'Gr%FC.pdf", "Grü.pdf"),
    ("attachment; filename=x; filename*=UTF-8''%C3%BC", "ü"), ("attachment; filename*=plain.pdf", "plain.pdf"),
    ("a; filename*1*=%BCx; filename*0*=UTF-8''Gr%C3; filename*2=\"y%41.pdf\"", "Grüxy%41.pdf"),
    ("a; filename*0=one; filename*1=two; filename*3=four", "onetwo"), ("a; filename*1=one; filename*2=two", "onetwo"),
    ("a; filename=\"=?utf-8?q?Gr=C3=BC?=\n =?utf-8?q?=C3=9F.pdf?=\"", "Grüß.pdf"),
    ("a; filename=\"Grü.pdf\"", "Grü.pdf"),
    ("a; filename=", ""), ("a; filename", nil), ("a", nil), ("filename=a.pdf", "a.pdf"), ("a; filename=\"\"", ""),
    ("a filename=a.pdf", "a.pdf"), ("a; x=1; filename*99999=b", nil),
  ]

  @Test(arguments: parameters) func readsParameters(_ fixture: (raw: String, name: String?)) {
    #expect(ContentDisposition(Array(fixture.raw.utf8)[...]).filename == fixture.name)
  }

  static let types: [(raw: String, name: String, boundary: String?, charset: String?)] = [
    ("text/plain; charset=utf-8", "text/plain", nil, "utf-8"),
    ("TEXT/HTML;charset=\"UTF-8\"", "text/html", nil, "UTF-8"),
    ("multipart/mixed; boundary=\"=?x y?=\"", "multipart/mixed", "=?x y?=", nil),
    ("multipart/mixed boundary=ab charset=x", "multipart/mixed", "ab", "x"),
    ("multipart/alternative;\n boundary=----=_Part_1.2", "multipart/alternative", "----=_Part_1.2", nil),
    ("text", "text/plain", nil, nil), ("", "text/plain", nil, nil), ("charset=x", "text/plain", nil, "x"),
    ("application / pdf ; name=x", "application/pdf", nil, nil),
    ("text/plain (a); charset=us-ascii (b)", "text/plain", nil, "us-ascii"),
  ]

  @Test(arguments: types) func readsTypes(_ fixture: (raw: String, name: String, boundary: String?, charset: String?)) {
    let type = ContentType(Array(fixture.raw.utf8)[...])
    #expect(type.name == fixture.name)
    #expect(type.boundary.map { String(decoding: $0, as: UTF8.self) } == fixture.boundary)
    #expect(type.charset == fixture.charset)
  }

  /// Any bytes in a field give some result.
  @Test func arbitraryFieldBytesAreParsed() {
    var numbers = SeededNumbers(seed: 11)
    let raws =
      Self.words.map(\.raw) + Self.addresses.map { Array($0.raw.utf8) } + Self.dates.map { Array($0.raw.utf8) }
      + Self.parameters.map { Array($0.raw.utf8) } + Self.types.map { Array($0.raw.utf8) } + [Array(Self.section.utf8)]
    let signs = Array("\"\\()<>@,;:=?*'%-+ \t\r\n\0".utf8) + [0x80, 0xff]
    var read = 0
    for _ in 0..<200 {
      for raw in raws {
        var bytes = raw
        for _ in 0...numbers.below(4) {
          let place = numbers.below(bytes.count + 1)
          switch numbers.below(3) {
          case 0: bytes.insert(signs[numbers.below(signs.count)], at: place)
          case 1: bytes = Array(bytes[..<place])
          default: if place < bytes.count { bytes[place] = signs[numbers.below(signs.count)] }
          }
        }
        let slice = (Array("xx".utf8) + bytes)[2...]
        let type = ContentType(slice)
        let disposition = ContentDisposition(slice)
        #expect(!type.type.isEmpty && type.parameters.all.count <= Parameters.limit)
        read += disposition.filename == nil ? 0 : 1
        read += MailAddress(firstOf: slice) == nil ? 0 : 1
        read += MailDate(slice) == nil ? 0 : 1
        read += EncodedWords.decode(slice).isEmpty ? 0 : 1
        let header = Header(slice)
        #expect(header.bytes.count <= slice.count && header.bytes.count == Header.end(of: slice) ?? header.bytes.count)
        for field in header.fields { read += header.name(of: field).isEmpty ? 0 : header.value(of: field).count }
      }
    }
    #expect(read > 10_000)
  }

  @Test func longFieldsAreParsedInLinearTime() {
    let commas = [UInt8](repeating: 0x2c, count: 1 << 20)
    #expect(MailAddress(firstOf: commas[...])?.address ?? "" == "")
    let words = Array(String(repeating: "=?a?q?x.", count: 150_000).utf8)
    #expect(EncodedWords.decode(words[...]).utf8.count == words.count)
    let parameters = Array(("a" + String(repeating: "; x=\"y", count: 150_000)).utf8)
    #expect(ContentDisposition(parameters[...]).kind == "a")
    let parentheses = [UInt8](repeating: 0x28, count: 1 << 20)
    #expect(ContentType(parentheses[...]).name == "text/plain")
  }
}
