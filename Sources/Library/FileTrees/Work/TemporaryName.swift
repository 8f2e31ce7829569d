package import Bytes
internal import Files
internal import Glibc
package import Tree

/// The names of files and directories that are not complete. `ffserve` does not show them.
package enum TemporaryName {
  private static let prefix = Array(".ffmount-".utf8)
  private static let part = Array(".part".utf8)
  private static let upload = Array(".upload".utf8)

  /// The time without changes after which an item is not in use, in seconds. An upload can continue on another day.
  private static let lifetime: (file: Int64, folder: Int64, upload: Int64) = (60, 86400, 7 * 86400)

  /// Returns a name for an item that gets its own name soon.
  package static func random() -> FileName {
    FileName(prefix + Array(String(UInt64.random(in: .min ... .max), radix: 36).utf8) + part)
  }

  /// Returns the name of a file that is received by several requests.
  package static func upload(_ number: String, size: Int64) -> FileName {
    FileName(prefix + Array("\(number)-\(size)".utf8) + upload)
  }

  /// Returns the size in the name of an upload. Returns `nil` if the name is not that of the upload with this number.
  package static func size(of name: FileName, number: String) -> Int64? {
    let start = prefix + Array("\(number)-".utf8)
    guard name.bytes.starts(with: start), isOne(name.bytes) else { return nil }
    let digits = name.bytes.dropFirst(start.count).dropLast(upload.count)
    return Int64(String(decoding: digits, as: UTF8.self)).flatMap { $0 >= 0 ? $0 : nil }
  }

  /// Returns whether a name is a temporary one.
  package static func isOne(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    name.starts(with: prefix) && (name.suffix(part.count).elementsEqual(part) || isUpload(name))
  }

  private static func isUpload(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    name.suffix(upload.count).elementsEqual(upload)
  }

  /// Marks an open file as in use, by a lock that ends with the process.
  static func mark(_ file: Tree.OpenFile) { _ = file.withDescriptor { flock($0, LOCK_SH | LOCK_NB) } }
}

extension FileTree {
  /// Removes an item with a temporary name that a process has left behind. Does nothing if it may be in use. Blocks.
  package func removeLeftover(_ name: FileName, in folder: ResolvedPath) {
    guard tree.isWritable, TemporaryName.isOne(name.bytes) else { return }
    _ = try? unlessDelayed { () throws(Fault) in
      let item = try folder.child(name, .blocking)
      let age = Timestamp.now.seconds - item.attributes.modified.seconds
      guard age > TemporaryName.time(name, item.attributes.kind) else { return }
      if item.attributes.kind == .folder {
        return try removeItem(at: folder.names + [name], recursively: true)
      }
      try tree.withFolder(folder.node) { (raw) throws(Fault) in
        let file = try FolderChanges.open(name, in: raw, flags: O_RDWR)
        guard flock(file.raw, LOCK_EX | LOCK_NB) == 0 else { return }
        try FolderChanges.remove(name, in: raw, isFolder: false)
      }
    }
  }
}

extension TemporaryName {
  fileprivate static func time(_ name: FileName, _ kind: Kind) -> Int64 {
    isUpload(name.bytes) ? lifetime.upload : kind == .folder ? lifetime.folder : lifetime.file
  }
}
