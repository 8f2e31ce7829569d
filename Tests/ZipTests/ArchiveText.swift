import Bytes
import Codecs
import Entries
import TestSupport
import Zip

extension ZipArchive {
  static let testTime = Timestamp(seconds: 1_700_000_000)

  /// Opens a fixture.
  convenience init(_ fixture: ZipFixture, cache: BlockCache = BlockCache(capacity: 4 << 20)) throws {
    try self.init(bytes: fixture.bytes(), cache: cache)
  }

  convenience init(_ fixture: ZipFixture, charset: String?) throws {
    var options = ZipOptions()
    options.charset = charset
    try self.init(fixture, options)
  }

  convenience init(_ fixture: ZipFixture, _ options: ZipOptions) throws {
    try self.init(
      ByteArraySource(fixture.bytes()), modified: Self.testTime, cache: BlockCache(capacity: 4 << 20),
      options: options)
  }

  convenience init(bytes: [UInt8], cache: BlockCache = BlockCache(capacity: 4 << 20)) throws {
    try self.init(ByteArraySource(bytes), modified: Self.testTime, cache: cache)
  }

  /// The tree as text, one line per node, in the archive's order: `folder/`, `file = content`, `link -> target`, `file
  /// ! kind of fault`.
  func lines() -> [String] { lines(below: ZipArchive.root, path: "") }

  private func lines(below folder: UInt32, path: String) -> [String] {
    children(of: folder).flatMap { child -> [String] in
      let path = path + String(decoding: name(of: child), as: UTF8.self)
      switch node(child).kind {
      case .folder: return ["\(path)/"] + lines(below: child, path: path + "/")
      case .link: return ["\(path) -> \(text(of: child))"]
      case .file:
        do throws(Fault) { return ["\(path) = \(String(decoding: try content(of: child), as: UTF8.self))"] } catch {
          return ["\(path) ! \(error.kind)"]
        }
      }
    }
  }

  private func text(of node: UInt32) -> String {
    (try? content(of: node)).map { String(decoding: $0, as: UTF8.self) } ?? "?"
  }

  /// A file's bytes, read front to back and checked against its size.
  func content(of index: UInt32) throws(Fault) -> [UInt8] {
    let bytes = try open(index, .blocking).readThrough()
    guard Int64(bytes.count) == node(index).size else {
      throw Fault(.system(0), "a size of \(node(index).size) and \(bytes.count) bytes")
    }
    return bytes
  }

  /// The node at a path of existing names.
  func find(_ path: String) -> UInt32? {
    path.split(separator: "/").reduce(ZipArchive.root as UInt32?) { folder, name in
      folder.flatMap { child(of: $0, named: FileName(String(name))) }
    }
  }
}
