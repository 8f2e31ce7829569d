internal import Bytes
internal import Synchronization
internal import Tables
internal import TestSupport

extension FuzzTarget {
  /// Tables with each delimiter, as a page and as columns.
  public static let tables = FuzzTarget(name: "tables") {
    [
      "id,name\n1,\"a, \"\"b\"\"\"\r\n22, c \r\n", "sep=;\na;b\n\"x\ny\";2,5\n", "a\tb\n\t\n1\t2\n", "\u{feff}ä|ö\n1|2",
      "x,\"never closed\n1,2\n",
    ].map { Array($0.utf8) } + [[0xff, 0xfe, 0x61, 0, 0x2c, 0, 0x62, 0, 0x0a, 0], [0xe4, 0x2c, 0xf6, 0x0a]]
  } complaints: { bytes in
    let contents: [TableForm.Content] = [.table(delimiter: 0x2c), .table(delimiter: 0x09)]
    return contents.flatMap { content in
      TableForm.allCases.flatMap { RewrittenReading.complaints($0, content, bytes) }
    }
  }

  /// JSON and JSON Lines.
  public static let json = FuzzTarget(name: "json") {
    [
      #"{"a": [1, -2.5e10, true, null, "ü\u00fc\n"], "b": {"c": {}}}"#, #"[[[[[]]]], {"": 0}]"#,
      "{\"a\":1}\n{\"b\":[2]}\n\nnull\n", "\u{feff}[1,]", #"{"a" 1"#, "[1e999999999999, \"\\ud800\"]",
    ].map { Array($0.utf8) }
  } complaints: { bytes in
    [TableForm.Content.json, .jsonLines].flatMap { RewrittenReading.complaints(.text, $0, bytes) }
  }

  /// An RTF body of `winmail.dat`, uncompressed.
  public static let rtf = FuzzTarget(name: "rtf") {
    [
      #"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset204 A;}}\f0\'ef\u8364?\u-10179?\u-8704?\bin3 }}} b\par c\tab}"#,
      #"{\rtf1\fromhtml1{\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 a{\*\htmltag8 &nbsp;}\uc9999999999 \u1 x}}"#,
      #"{\rtf1{\*\pn{\pict 00ff}}\bin99999999999 x\'g\'"#,
    ].map { Array($0.utf8) }
  } complaints: { bytes in
    var reading = MailReading()
    let head = Array("Content-Type: application/ms-tnef; name=winmail.dat\n\n".utf8)
    reading.readMessage(
      ByteArraySource(head + TNEFSeed.holding(rtf: bytes)), isQuoted: false, depth: 0)
    return reading.complaints
  }
}

/// Reads a converted table or JSON front to back and at random offsets.
private enum RewrittenReading {
  static func complaints(_ form: TableForm, _ content: TableForm.Content, _ bytes: [UInt8]) -> [String] {
    let ended = Mutex<Int64?>(nil)
    let made = try? form.text(
      of: ByteArraySource(bytes), content, title: "t", guess: 1, memory: .init(capacity: 1 << 20),
      ended: { size in ended.withLock { $0 = size } })
    guard let made, let whole = try? made.readThrough(step: 30_000) else { return ["\(form) cannot be read"] }
    var complaints: [String] = []
    func check(_ isSo: Bool, _ complaint: @autoclosure () -> String) {
      if !isSo { complaints.append("\(form): \(complaint())") }
    }
    check(made.hasKnownSize && made.size == whole.count, "\(whole.count) bytes have the size \(made.size)")
    check(ended.withLock { $0 } == Int64(whole.count), "it is said to end elsewhere")
    check(String(validating: whole, as: UTF8.self) != nil, "it is no UTF-8")
    // A row takes some bytes more than its content; columns are bounded, cells and levels are indented.
    check(whole.count <= 100_000 + 2000 * bytes.count, "\(whole.count) bytes are made of \(bytes.count)")
    for place in [0, 1, whole.count / 3, whole.count - 1, whole.count, .max, -1] {
      let part = try? made.partialBytes(at: Int64(place), count: 777)
      let start = min(max(0, place), whole.count)
      let expected = place < 0 ? [] : whole[start..<min(whole.count, start + 777)]
      check(part.map { areSame($0, expected) } ?? false, "at \(place) it is not what it is front to back")
      if made.workAhead(of: Int64(place)) != .none { made.prepare(at: Int64(place)) }
    }
    return complaints
  }
}
