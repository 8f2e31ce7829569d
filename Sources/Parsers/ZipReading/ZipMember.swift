internal import Bytes
public import ContentReading
internal import Entries
internal import Zip

/// A file, a directory or a symbolic link in a ZIP archive. The archive stays open while any of its members exists.
public struct ZipMember: Sendable {
  /// The kinds of members.
  public enum Kind: Sendable {
    /// A file with bytes.
    case file
    /// A directory, without bytes.
    case folder
    /// A symbolic link. Its bytes are the target's path, which can be outside the archive.
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

  /// Whether the member is a file, a directory or a link.
  public var kind: Kind {
    switch node.kind {
    case .file: .file
    case .folder: .folder
    case .link: .link
    }
  }

  /// The last component of the path.
  public var name: String { String(decoding: archive.name(of: index), as: UTF8.self) }

  /// The path in the archive, with components joined by `/`: relative, without `.` and `..`, and unique in the archive.
  ///
  /// Names that violate this are changed so that extraction never leaves its directory. Control characters and such
  /// components become `?`. All but one of several equal names get a number.
  public var path: String {
    var names: [String] = []
    var place = index
    while place != ZipArchive.root {
      names.append(String(decoding: archive.name(of: place), as: UTF8.self))
      place = archive.parent(of: place)
    }
    return names.reversed().joined(separator: "/")
  }

  /// The claimed size of the decoded bytes. 0 for a directory.
  public var size: Int64 { node.size }

  /// The modification time, in seconds since the start of 1970 in UTC. A time that is not recorded in UTC is
  /// interpreted as local time.
  public var modified: Int64 { node.modified.seconds }

  /// The Unix permission bits, 0 to 0o777. Defaults if none are recorded.
  public var permissions: UInt16 { node.permissions }

  /// Returns the bytes, which can be read as a whole, in chunks or at any offset. Reads a little of the archive.
  /// Blocks.
  ///
  /// Deflate can be read at any offset quickly after it has been read completely. Other methods start again from the
  /// first byte to go far back.
  ///
  /// - Throws: `ReadingError`. Its code is `ReadingError.Code.locked` if no password fits, and
  ///   `ReadingError.Code.tooLarge` if the member claims more than 1,100 times its compressed size or over 1 TiB. It is
  ///   `ReadingError.Code.unsupported` for a directory or an unknown method, or another code if the archive is damaged
  ///   there.
  public func content() throws(ReadingError) -> Content {
    guard kind != .folder else { throw ReadingError(.unsupported, "a folder has no bytes") }
    let source = try ReadingError.of { () throws(Fault) in try archive.open(index, .blocking) }
    return try Content(source)
  }

  /// Returns all bytes. Blocks.
  ///
  /// - Parameter limit: The maximum number of bytes.
  /// - Throws: `ReadingError` with `ReadingError.Code.tooLarge` if there are more than `limit` bytes, or the errors of
  ///   ``content()`` and `Content.bytes(limit:)`.
  public func bytes(limit: Int = 1 << 30) throws(ReadingError) -> [UInt8] { try content().bytes(limit: limit) }
}
