import Assembly
import FileTrees
import SystemPackage

/// Writes search hits to standard output.
struct HitLines {
  let isJSON: Bool
  private var output = ResultOutput()
  /// The number of hits.
  private(set) var count = 0
  /// The errno of a failed write, after which nothing more is written.
  var error: Int32? { output.error }

  init(isJSON: Bool) { self.isJSON = isJSON }

  /// Writes a hit. Returns whether more can be written.
  mutating func add(_ hit: FileTree.Message) -> Bool {
    let date = hit.date.map { Amount.moment($0.seconds, zone: hit.zone) }
    let path = hit.path.string
    if isJSON {
      let object: JSON = [
        "path": .string(path), "date": JSON(date), "sender": .string(hit.sender), "address": .string(hit.address),
        "subject": .string(hit.subject), "size": .number(hit.size),
      ]
      output.append((count == 0 ? "[\n  \(object.text)" : ",\n  \(object.text)").utf8)
    } else {
      output.append("\(path)\t\(date ?? "undated")\t\(hit.sender)\t\(hit.subject)\n".utf8)
    }
    count += 1
    return output.flushIfFull()
  }

  mutating func finish() {
    if isJSON { output.append((count == 0 ? "[]\n" : "\n]\n").utf8) }
    output.flush()
  }
}
