import Assembly
import FileTrees
import SystemPackage

/// Writes messages found to standard output, on a terminal as elsewhere.
struct HitLines: ResultLines {
  private let style: DocumentLines.Style
  private var output = ResultOutput()
  /// The number of hits.
  private var count = 0
  /// The errno of a failed write, after which nothing more is written.
  var error: Int32? { output.error }

  init(_ style: DocumentLines.Style) { self.style = style }

  func path(of hit: FileTree.Message) -> String { hit.path.string }

  /// Writes a hit. Returns whether more can be written.
  mutating func add(_ hit: FileTree.Message) -> Bool {
    let date = hit.date.map { Amount.moment($0.seconds, zone: hit.zone) }
    let path = hit.path.string
    switch style {
    case .json:
      let object: JSON = [
        "path": .string(path), "date": JSON(date), "sender": .string(hit.sender), "address": .string(hit.address),
        "subject": .string(hit.subject), "size": .number(hit.size),
      ]
      output.append((count == 0 ? "[\n  \(object.text)" : ",\n  \(object.text)").utf8)
    case .paths(let zeros):
      output.append(path.utf8)
      output.append([zeros ? 0 : 0x0a])
    case .shown, .fields:
      output.append("\(path)\t\(date ?? "undated")\t\(hit.sender)\t\(hit.subject)\n".utf8)
    }
    count += 1
    return output.flushIfFull()
  }

  mutating func finish() {
    if style == .json { output.append((count == 0 ? "[]\n" : "\n]\n").utf8) }
    output.flush()
  }
}
