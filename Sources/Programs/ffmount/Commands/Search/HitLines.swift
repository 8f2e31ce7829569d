import Assembly
import FileTrees
import Glibc
import SystemPackage

/// Writes search hits to standard output.
struct HitLines {
  let isJSON: Bool
  private var bytes: [UInt8] = []
  /// The number of hits.
  private(set) var count = 0
  /// The errno of a failed write, after which nothing more is written.
  private(set) var error: Int32?

  private var isOver = false

  private static let blockSize = 64 << 10

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
      bytes += (count == 0 ? "[\n  \(object.text)" : ",\n  \(object.text)").utf8
    } else {
      bytes += "\(path)\t\(date ?? "undated")\t\(hit.sender)\t\(hit.subject)\n".utf8
    }
    count += 1
    if bytes.count > Self.blockSize { flush() }
    return !isOver
  }

  mutating func finish() {
    if isJSON { bytes += (count == 0 ? "[]\n" : "\n]\n").utf8 }
    flush()
  }

  private mutating func flush() {
    do throws(SystemError) { try Output.write(bytes) } catch {
      // The pipe's reader has closed it.
      self.error = error.code == EPIPE ? nil : error.code
      isOver = true
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
