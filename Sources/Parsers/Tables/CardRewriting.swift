internal import Bytes
internal import Cards

/// A conversion of calendars and contacts to text, or of contacts to a table.
struct CardRewriting: PieceRewriting {
  private let isTable: Bool
  private var scanner = CardScanner()
  private var isStart = true

  init(isTable: Bool) { self.isTable = isTable }

  var isFinished: Bool { false }
  var fault: Fault? { scanner.cut ?? scanner.lostText }

  mutating func rewrite(_ piece: [UInt8], isLast: Bool, _ converters: inout TextDecoder.Converters) -> [UInt8] {
    var text = ""
    if isStart, isTable { text = ContactTable.header }
    var isFirst = isStart
    let isTable = isTable
    scanner.read(piece, isLast: isLast) { found in
      guard case .entry(let entry) = found else { return }
      if isTable {
        text += ContactTable.row(entry) ?? ""
        return
      }
      let readable = entry.readable
      if readable.isEmpty { return }
      if !isFirst { text += "\n" }
      isFirst = false
      text += readable
    }
    isStart = isTable ? false : isFirst
    return Array(text.utf8)
  }
}
