public import Bytes

/// A mount as its users see it: the tree in process, or plain POSIX calls below a mountpoint.
///
/// Paths are names joined by `/`, any bytes; the empty path is the root. Links are never followed. Every failure is a
/// `FileTreeError`.
public protocol FileTree: Sendable {
  /// In the order of readdir(3), without `.` and `..`.
  func list(_ path: FileName) throws -> [FileName]
  /// As lstat(2).
  func stat(_ path: FileName) throws -> FileTreeStatus
  /// One open and one read from `offset` on: fewer bytes only at the end.
  func read(_ path: FileName, at offset: Int64, count: Int) throws -> [UInt8]
  func readLink(_ path: FileName) throws -> [UInt8]
  /// As lgetxattr(2).
  func attribute(_ path: FileName, _ name: String) throws -> [UInt8]
  func attributeNames(_ path: FileName) throws -> [String]
}

extension FileTree {
  /// A whole file, in reads of `step` bytes.
  public func readAll(_ path: FileName, step: Int = 128 << 10) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while true {
      let part = try read(path, at: Int64(bytes.count), count: step)
      if part.isEmpty { return bytes }
      bytes += part
    }
  }

  public func text(_ path: FileName) throws -> String { String(decoding: try readAll(path), as: UTF8.self) }

  public func exists(_ path: FileName) throws -> Bool {
    do {
      _ = try stat(path)
      return true
    } catch let error as FileTreeError where error.isMissing { return false }
  }

  /// Every path below `path`, with a slash after the names of folders.
  public func walk(_ path: FileName = "") throws -> [FileName] {
    try list(path).flatMap { name -> [FileName] in
      let below = path.slash(name)
      guard try stat(below).kind == .folder else { return [below] }
      return try [FileName(Array(below.bytes) + [0x2f])] + walk(below)
    }
  }
}

/// A call that failed.
public struct FileTreeError: Error, Equatable, CustomStringConvertible {
  public let errno: Int32

  public init(errno: Int32) { self.errno = errno }

  /// ENOENT.
  public var isMissing: Bool { errno == 2 }
  public var description: String { "errno \(errno)" }
}

public struct FileTreeStatus: Sendable, Equatable {
  public enum Kind: Sendable {
    case file
    case folder
    case link
    case other
  }

  public var kind: Kind
  public var inode: UInt64
  /// The lowest twelve bits of the mode.
  public var permissions: UInt16
  public var links: UInt64
  public var owner: UInt32
  public var group: UInt32
  public var size: Int64
  public var modified: Timestamp

  public init(
    kind: Kind, inode: UInt64, permissions: UInt16, links: UInt64, owner: UInt32, group: UInt32, size: Int64,
    modified: Timestamp
  ) {
    self.kind = kind
    self.inode = inode
    self.permissions = permissions
    self.links = links
    self.owner = owner
    self.group = group
    self.size = size
    self.modified = modified
  }
}

extension FileName {
  /// A path: this one, a slash, `name`.
  public func slash(_ name: FileName) -> FileName {
    count == 0 ? name : FileName(Array(bytes) + [0x2f] + Array(name.bytes))
  }
}
