internal import Bytes
public import ContentReading
internal import Entries
internal import Zip

/// A file, a folder or a symbolic link in a ZIP archive, which stays open as long as one of its members is there.
public struct ZipMember: Sendable {
  /// What a member can be.
  public enum Kind: Sendable {
    /// It has bytes.
    case file
    /// It has none.
    case folder
    /// A symbolic link; its bytes are the path that it leads to, which may be outside the archive.
    case link
  }

  private let archive: ZipArchive
  private let index: UInt32
  private let node: EntryNode

  init(_ archive: ZipArchive, _ index: UInt32) {
    self.archive = archive
    self.index = index
    node = archive.node(index)
  }

  /// Whether it is a file, a folder or a link.
  public var kind: Kind {
    switch node.kind {
    case .file: .file
    case .folder: .folder
    case .link: .link
    }
  }

  /// The last component of the path.
  public var name: String { String(decoding: archive.name(of: index), as: UTF8.self) }

  /// The names of the folders and its own, joined by `/`: relative, without `.` and `..`, and unique in the archive.
  ///
  /// Names that break this are changed, so that a folder to unpack to is never left: control characters and such
  /// components become `?`, and of equal names all but one get a number.
  public var path: String {
    var names: [String] = []
    var place = index
    while place != ZipArchive.root {
      names.append(String(decoding: archive.name(of: place), as: UTF8.self))
      place = archive.parent(of: place)
    }
    return names.reversed().joined(separator: "/")
  }

  /// Of the bytes, decoded, as the archive says; 0 for a folder.
  public var size: Int64 { node.size }

  /// When it was changed, in seconds since the start of 1970 in UTC. The time of a member without one in UTC is taken
  /// for local time.
  public var modified: Int64 { node.modified.seconds }

  /// Permission bits of Unix, 0 to 0o777; the usual ones if none are recorded.
  public var permissions: UInt16 { node.permissions }

  /// The bytes, to be read as a whole, in chunks or at any offset. Reads a little of the archive; blocks.
  ///
  /// Deflate can be read at any offset quickly once it has been read through; other methods start again from the first
  /// byte if that is far back.
  ///
  /// - Throws: `ReadingError` with `ReadingError.Code.locked` if no password fits, with
  ///   `ReadingError.Code.tooLarge` if the member claims more than 1,100 times its compressed size or
  ///   over 1 TiB, with `ReadingError.Code.unsupported` for a folder or an unknown method, or another
  ///   code if the archive is damaged there.
  public func content() throws(ReadingError) -> Content {
    guard kind != .folder else { throw ReadingError(.unsupported, "a folder has no bytes") }
    let source = try ReadingError.of { () throws(Fault) in try archive.open(index, .blocking) }
    return try Content(source)
  }

  /// All bytes. Blocks.
  ///
  /// - Parameter limit: In bytes.
  /// - Throws: `ReadingError` with `ReadingError.Code.tooLarge` if there are more than
  ///   `limit`, or as ``content()`` and `Content.bytes(limit:)` do.
  public func bytes(limit: Int = 1 << 30) throws(ReadingError) -> [UInt8] { try content().bytes(limit: limit) }
}
