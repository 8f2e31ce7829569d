import Foundation
import Testing
import WorkerKit

/// Documents that tests write object by object.
enum MadePDF {
  /// Returns a document of objects, the first of which is the catalog. `extra` returns one more object, which begins at
  /// the offset that it is given, and more entries of the trailer.
  static func text(
    _ objects: [String], hasTable: Bool = true, extra: (Int) -> (object: String, entries: String) = { _ in ("", "") }
  ) -> String {
    var text = "%PDF-1.5\n"
    var table = "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
    for (index, object) in objects.enumerated() {
      table += String(format: "%010d 00000 n \n", text.utf8.count)
      text += "\(index + 1) 0 obj\n\(object)\nendobj\n"
    }
    let (object, entries) = extra(text.utf8.count)
    text += object
    let start = text.utf8.count
    if hasTable { text += table }
    return text + "trailer\n<</Root 1 0 R/Size \(objects.count + 1)\(entries)>>\nstartxref\n\(start)\n%%EOF\n"
  }

  static func stream(_ entries: String, _ data: String) -> String {
    "<<\(entries)/Length \(data.utf8.count)>>\nstream\n\(data)\nendstream"
  }

  static func input(_ bytes: some Sequence<UInt8>) throws -> JobInput {
    let path = NSTemporaryDirectory() + "made.\(UUID().uuidString).pdf"
    let data = Data(bytes)
    try data.write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let handle = try #require(FileHandle(forReadingAtPath: path))
    return try JobInput(descriptor: handle.fileDescriptor, offset: 0, size: Int64(data.count))
  }

  /// Returns the bytes that `body` writes.
  static func output(_ body: (JobOutput) throws -> Void) throws -> [UInt8] {
    let path = NSTemporaryDirectory() + "written.\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try body(JobOutput(descriptor: unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600), limit: 1 << 24))
    return Array(try Data(contentsOf: URL(filePath: path)))
  }
}
