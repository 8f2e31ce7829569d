import Bytes
import Cards

extension FuzzTarget {
  /// Calendars and cards: entries are in the file, one behind the other, in whatever pieces it comes; each file of the folder
  /// has the size that is listed.
  public static let cards = FuzzTarget(name: "cards") {
    let calendar = """
      BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VTIMEZONE\r\nTZID:A\r\nEND:VTIMEZONE\r\nBEGIN:VEVENT\r
      DTSTART;TZID="A":20240503T100000\r\nSUMMARY:a\\, b\r\n c\r\nRRULE:FREQ=DAILY;UNTIL=20250101\r\nBEGIN:VALARM\r
      END:VALARM\r\nATTENDEE;CN=x;PARTSTAT=ACCEPTED:mailto:a@b\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
      """
    let card = """
      BEGIN:VCARD
      N;CHARSET=ISO-8859-1;QUOTED-PRINTABLE:M=FC=
      ller;J=F6rg
      item1.TEL;HOME:1
      item1.X-ABLabel:_$!<Other>!$_
      PHOTO;ENCODING=BASE64;PNG:iVBORw0K
       GgoAAAAA
      END:VCARD
      """
    return [Array(calendar.utf8), Array(card.utf8), Array((card + "\n" + card).utf8)]
  } complaints: { bytes in
    var complaints: [String] = []
    var texts: [String] = []
    for size in [bytes.count, 7] where size > 0 {
      var scanner = CardScanner()
      var text = ""
      var last: Int64 = 0
      for start in stride(from: 0, to: bytes.count, by: size) {
        let piece = bytes[start..<min(bytes.count, start + size)]
        scanner.read(piece, isLast: start + size >= bytes.count) { found in
          guard case .entry(let entry) = found else { return }
          if entry.range.lowerBound < last || entry.range.upperBound > Int64(bytes.count) {
            complaints.append("an entry is at \(entry.range) of \(bytes.count) bytes, behind \(last)")
          }
          last = entry.range.upperBound
          text += entry.readable + (ContactTable.row(entry) ?? "")
        }
      }
      texts.append(text)
    }
    if let first = texts.first, texts.contains(where: { $0 != first }) { complaints.append("pieces change the text") }
    let source = ByteArraySource(bytes)
    guard let folder = try? CardFolder(source) else { return complaints }
    for (index, file) in folder.files.enumerated() {
      let size = (try? folder.open(index, of: source))?.size
      if size != file.size { complaints.append("a file of \(file.size) bytes has \(size ?? -1)") }
    }
    return complaints
  }
}
