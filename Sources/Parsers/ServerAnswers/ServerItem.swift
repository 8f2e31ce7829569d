package import Bytes
internal import Text

/// A server's description of a file or directory, from a listing or a request for the item.
///
/// Validates untrusted input: sizes are bounded, and the name is a valid entry name.
package struct ServerItem: Sendable, Equatable {
  package enum Kind: UInt8, Sendable {
    case file, folder, link, fifo, socket, characterDevice, blockDevice
  }

  package enum Size: Sendable, Equatable {
    /// The exact size, in bytes.
    case exact(Int64)
    /// An estimate of the size, in bytes. Never 0.
    case estimate(Int64)
  }

  /// The name. Empty for the root.
  package var name = FileName("")
  package var kind = Kind.file
  package var size = Size.exact(0)
  package var modified = Timestamp(seconds: 0)
  /// Whether a file is a program, by its permissions.
  package var isExecutable = false
  /// The entity tag of a file's bytes, without the mark of a weak one. Nil if it is not known.
  package var tag: String?
  /// The view of the item. Nil for most items.
  package var view: String?
  /// The target of a link.
  package var target: [UInt8]?
  package var provenance: ServerProvenance?
  /// The reason why the attributes of an entry of a listing cannot be read. Nil for most items.
  package var failure: String?
  /// The bytes of a small file, and their strong entity tag. Nil for most items.
  package var content: Content?

  package struct Content: Sendable, Equatable {
    package let tag: String
    package let bytes: [UInt8]
  }

  package init() {}

  /// The maximum number of items in one directory.
  package static let mostInFolder = 2_000_000
  package static var tooMany: Fault {
    Fault(.limit, "the server lists more than \(mostInFolder) entries in one folder")
  }

  /// The change time: the modification time, with nanoseconds that differ between entity tags.
  ///
  /// Bytes that change within a second of the modification time, and keep their size, are told apart by the tag alone.
  package var changed: Timestamp {
    guard let tag else { return modified }
    var hash = StableHash()
    hash.combine(tag.utf8)
    return Timestamp(seconds: modified.seconds, nanoseconds: 1 + Int32(hash.value % 999_999_999))
  }

  /// The maximum lengths of names and of link targets in the kernel, in bytes.
  private static let longestName = 255
  private static let longestTarget = 4095

  /// Returns whether `bytes` is a valid entry name: not empty, not too long, not `.` or `..`, and without slash and
  /// NUL.
  package static func isName(_ bytes: some Collection<UInt8>) -> Bool {
    !bytes.isEmpty && bytes.count <= longestName && !bytes.contains(0) && !bytes.contains(UInt8(ascii: "/"))
      && !bytes.elementsEqual(".".utf8) && !bytes.elementsEqual("..".utf8)
  }

  /// Reads an object of the API. Returns `nil` if its link target is invalid, or its name is invalid and it is not the
  /// root.
  package static func read(_ reader: inout JSONReader, isRoot: Bool = false) throws(Fault) -> ServerItem? {
    var raw = Members()
    try reader.object { (reader, key) throws(Fault) in try raw.read(key, &reader) }
    var item = ServerItem()
    item.modified = raw.modified.flatMap(ISOTime.timestamp) ?? item.modified
    item.view = raw.view
    item.isExecutable = raw.isExecutable && raw.view == nil
    if !isRoot {
      guard let name = raw.ownName, isName(name) else { return nil }
      item.name = FileName(name)
    }
    let target = raw.encodedLink.flatMap { Percent.decoded($0) } ?? raw.link
    if let target {
      guard !target.isEmpty, target.count <= longestTarget, !target.contains(0) else { return nil }
      item.kind = .link
      item.target = target
      item.modified = raw.linkModified.flatMap(ISOTime.timestamp) ?? item.modified
      item.size = .exact(Int64(target.count))
      return item
    }
    switch raw.type {
    case "directory": item.kind = .folder
    case "file":
      // A size that no file has is not known.
      item.size =
        raw.size.flatMap { Bounds.holds($0) ? .exact($0) : nil } ?? .estimate(max(1, Bounds.size(raw.estimate ?? 1)))
    default:
      switch raw.special {
      case "fifo": item.kind = .fifo
      case "characterDevice": item.kind = .characterDevice
      case "blockDevice": item.kind = .blockDevice
      default: item.kind = .socket
      }
    }
    if let text = raw.content, let tag = raw.tag.flatMap({ EntityTag.strong($0) }),
      let bytes = Base64.bytes(of: String(decoding: text, as: UTF8.self)), item.kind == .file,
      item.size == .exact(Int64(bytes.count))
    {
      item.content = Content(tag: tag, bytes: bytes)
    }
    if let source = raw.source {
      item.provenance = ServerProvenance(
        source: source, view: raw.view ?? "", state: raw.state ?? "exact", error: raw.error, remark: raw.remark,
        also: raw.also)
    } else if raw.modified == nil {
      item.failure = raw.error
    }
    return item
  }
}

/// The `user.ffmount.*` attributes that a server reports.
package struct ServerProvenance: Sendable, Equatable {
  package var source: String
  package var view: String
  /// The state: `exact`, `estimate`, `failed`, or any other text from the server.
  package var state: String
  package var error: String?
  package var remark: String?
  package var also: String?
}

/// The unvalidated members of an object.
private struct Members {
  var name: [UInt8]?
  var encodedPath: [UInt8]?
  var type = ""
  var special = ""
  var size: Int64?
  var estimate: Int64?
  var modified: [UInt8]?
  var isExecutable = false
  var view: String?
  var link: [UInt8]?
  var encodedLink: [UInt8]?
  var linkModified: [UInt8]?
  var source: String?
  var state: String?
  var error: String?
  var remark: String?
  var also: String?
  var tag: String?
  var content: [UInt8]?

  /// The bytes of the name. If the name is not UTF-8, they are only in the path.
  var ownName: [UInt8]? {
    guard let encodedPath else { return name }
    return encodedPath.split(separator: UInt8(ascii: "/")).last.flatMap { Percent.decoded($0) }
  }

  mutating func read(_ key: String, _ reader: inout JSONReader) throws(Fault) {
    switch key {
    case "name": name = try reader.text()
    case "encodedPath": encodedPath = try reader.text()
    case "type": type = try reader.string(atMost: 32) ?? ""
    case "special": special = try reader.string(atMost: 32) ?? ""
    case "size": size = try reader.number()
    case "estimate": estimate = try reader.number()
    case "modified": modified = try reader.text()
    case "executable": isExecutable = try reader.isTrue()
    case "view": view = try reader.string(atMost: 64)
    case "link": link = try reader.text()
    case "encodedLink": encodedLink = try reader.text()
    case "linkModified": linkModified = try reader.text()
    case "source": source = try reader.string(atMost: 4096)
    case "state": state = try reader.string(atMost: 32)
    case "error": error = try reader.string(atMost: 4096)
    case "remark": remark = try reader.string(atMost: 4096)
    case "also": also = try reader.string(atMost: 32 << 10)
    case "tag": tag = try reader.string(atMost: 256)
    case "content": content = try reader.text()
    default: try reader.skip()
    }
  }
}

extension JSONReader {
  /// Reads a string, cut at a character boundary after at most `limit` bytes. Returns `nil` for null.
  package mutating func string(atMost limit: Int) throws(Fault) -> String? {
    guard let bytes = try text() else { return nil }
    var start = bytes.prefix(limit)
    // A continuation byte does not begin a character.
    while start.count < bytes.count, bytes[start.endIndex] & 0xc0 == 0x80 { start = start.dropLast() }
    return String(decoding: start, as: UTF8.self)
  }
}
