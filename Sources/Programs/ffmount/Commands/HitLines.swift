import Assembly
import Glibc
import MailViews

/// Writes search hits to standard output.
struct HitLines {
  let isJSON: Bool
  private var bytes: [UInt8] = []
  private var count = 0
  /// The errno of a failed write, after which nothing more is written.
  private(set) var error: Int32?

  private static let blockSize = 64 << 10

  init(isJSON: Bool) { self.isJSON = isJSON }

  mutating func add(_ hit: Indexing.Hit) {
    let date = hit.date.map { Amount.moment($0, zone: hit.zone) }
    if isJSON {
      let object: JSON = [
        "path": .string(hit.path), "date": JSON(date), "sender": .string(hit.sender), "address": .string(hit.address),
        "subject": .string(hit.subject), "size": .number(hit.size),
      ]
      bytes += (count == 0 ? "[\n  \(object.text)" : ",\n  \(object.text)").utf8
    } else {
      bytes += "\(hit.path)\t\(date ?? "undated")\t\(hit.sender)\t\(hit.subject)\n".utf8
    }
    count += 1
    if bytes.count > Self.blockSize { flush() }
  }

  mutating func finish() {
    if isJSON { bytes += (count == 0 ? "[]\n" : "\n]\n").utf8 }
    flush()
  }

  private mutating func flush() {
    do throws(SystemError) { try Output.write(bytes) } catch {
      // The reader of the pipe has closed it.
      self.error = error.code == EPIPE ? nil : error.code
    }
    bytes.removeAll(keepingCapacity: true)
  }
}
