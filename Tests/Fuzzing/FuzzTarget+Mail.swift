internal import Bytes

extension FuzzTarget {
  /// Mailboxes: message boundaries, rows, every part of every message; and the same bytes as one message.
  public static let mail = FuzzTarget(name: "mail") {
    MailSeeds.all
  } complaints: { bytes in
    var reading = MailReading()
    reading.readMailbox(ByteArraySource(bytes))
    reading.readMessage(ByteArraySource(bytes), isQuoted: false, depth: 0)
    return reading.complaints
  }

  /// `winmail.dat`, and the compressed RTF in it.
  public static let tnef = FuzzTarget(name: "tnef") {
    [TNEFSeed.files, TNEFSeed.rtf, TNEFSeed.html]
  } complaints: { bytes in
    var reading = MailReading()
    let head = Array("Content-Type: application/ms-tnef; name=winmail.dat\n\n".utf8)
    reading.readMessage(ByteArraySource(head + bytes), isQuoted: false, depth: 0)
    return reading.complaints
  }
}

/// Mailboxes of a few hundred bytes that together contain most features of mail.
private enum MailSeeds {
  static let all = [
    """
    From anna@example.com Fri May  3 10:00:00 2024
    From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>
    Date: Fri, 3 May 2024 12:00:00 +0200
    Subject: =?iso-8859-1?Q?Gr=FC=DFe?=
     =?utf-8?B?w6TDtg==?=
    Message-ID: <a@x>
    References: <b@x> <c@x>
    X-Gmail-Labels: Inbox,"a,b"
    MIME-Version: 1.0
    Content-Type: multipart/mixed; boundary="--b"

    ----b
    Content-Type: multipart/alternative; boundary=c

    --c
    Content-Type: text/plain; charset=iso-8859-1; format=flowed; delsp=yes
    Content-Transfer-Encoding: quoted-printable

    Gr=FC=DFe=20
    >From here =
    on
    --c
    Content-Type: text/html; charset=utf-8

    <p>a &amp; b <img src="cid:p@x"><pre> c
    --c--
    ----b
    Content-Type: image/png; name="=?utf-8?B?w7wudHh0?="
    Content-Disposition: attachment; filename*0*=UTF-8''a%20; filename*1="b.png"
    Content-Transfer-Encoding: base64
    Content-ID: <p@x>

    SGVsbG8sIHdvcmxkIQ==
    ----b
    Content-Type: message/rfc822

    Subject: inner
    Content-Type: text/plain; charset=utf-7

    a+AOQ-b
    ----b--

    From - Mon Jan  1 00:00:00 2018
    Subject: files in text

    begin 644 cat.txt
    #0V%T
    `
    end
    =ybegin part=1 line=128 size=3 name=a cat.txt
    =ypart begin=1 end=3
    mz~
    =yend size=3
    >From me
    """,
    """
    From x@example.com Mon Jan  1 10:00:00 +0100 2018\r
    Content-Length: 6\r
    Content-Type: text/plain; charset=utf-16\r
    \r
    a\u{0}b\u{0}\r
    \r
    From y@example.com Mon Jan  1 10:00:00 2018\r
    Content-Type: multipart/digest; boundary=b\r
    \r
    --b\r
    \r
    Subject: one\r
    \r
    text\r
    --b\r
    Content-Type: application/x-uue; name=u\r
    Content-Transfer-Encoding: x-uuencode\r
    \r
    begin 644 u\r
    #0V%T\r
    end\r
    --b--\r
    """,
  ].map { Array($0.utf8) }
}

/// Small files in TNEF.
enum TNEFSeed {
  static let files = whole(
    attribute(2, 0x9002, [1, 0] + Array(repeating: 0, count: 12)) + attribute(2, 0x1_8010, Array("A.TXT\0".utf8))
      + attribute(2, 0x6_800f, Array("a file".utf8))
      + attribute(
        2, 0x6_9005,
        word(3) + property(0x3707, 0x1f, Array("l\0o\0n\0g\0\0\0".utf8))
          + property(0x8001, 0x1e, Array("x\0".utf8), named: true)
          + word(0x0017_0003) + word(1))
      // A nested message.
      + attribute(2, 0x9002, Array(repeating: 0, count: 14))
      + attribute(
        2, 0x6_9005,
        word(1)
          + property(
            0x3701, 0xd, word(0x0002_0307) + Array(repeating: 0, count: 12) + whole(attribute(1, 0x2_800c, [0x78])))))

  static let rtf = whole(
    attribute(
      1, 0x6_9003,
      word(1)
        + property(
          0x1009, 0x102,
          word(70) + word(60) + Array("LZFu".utf8) + word(0)
            + packed(
              #"{\fonttbl\f1\fcharset204}\f1 \'ef\u8364?\bin2 }}"#))))

  /// Compressed RTF: a reference into the initial dictionary, `{\rtf1`, then literals.
  private static func packed(_ text: String) -> [UInt8] {
    let characters = Array(text.utf8)
    let rest = stride(from: 7, to: characters.count, by: 8).map { [0] + characters[$0..<min($0 + 8, characters.count)] }
    return [1, 0, 4] + characters[..<7] + rest.flatMap { $0 }
  }

  static let html = whole(
    attribute(1, 0x6_9007, word(1251) + word(0))
      + attribute(1, 0x6_9003, word(1) + property(0x1013, 0x102, Array("<p>\u{e4}".utf8))))

  /// Uncompressed RTF.
  static func holding(rtf: [UInt8]) -> [UInt8] {
    let size = UInt32(rtf.count)
    return whole(
      attribute(
        1, 0x6_9003,
        word(1) + property(0x1009, 0x102, word(size + 12) + word(size) + Array("MELA".utf8) + word(0) + rtf)))
  }

  private static func whole(_ attributes: [UInt8]) -> [UInt8] { word(0x223e_9f78) + [1, 0] + attributes }

  private static func attribute(_ level: UInt8, _ tag: UInt32, _ data: [UInt8]) -> [UInt8] {
    let sum = data.reduce(UInt32(0)) { $0 &+ UInt32($1) }
    return [level] + word(tag) + word(UInt32(data.count)) + data + word(sum)[..<2]
  }

  private static func property(_ tag: UInt32, _ type: UInt32, _ value: [UInt8], named: Bool = false) -> [UInt8] {
    let name = named ? Array(repeating: 7, count: 16) + word(1) + word(4) + Array("n\0\0\0".utf8) : []
    return word(tag << 16 | type) + name + word(1) + word(UInt32(value.count)) + value
      + Array(repeating: 0, count: (4 - value.count % 4) % 4)
  }

  private static func word(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
}
