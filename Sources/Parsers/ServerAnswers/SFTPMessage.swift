package import Bytes
internal import Text

/// The messages of the SSH File Transfer Protocol, version 3 (draft-ietf-secsh-filexfer-02).
package enum SFTPMessage {
  package enum Response: Sendable {
    case version(UInt32)
    case status(UInt32, String)
    case handle([UInt8])
    /// The bytes of the packet that are the data.
    case data(Range<Int>)
    case names([(name: [UInt8], attributes: Attributes)])
    case attributes(Attributes)
  }

  package struct Attributes: Sendable, Equatable {
    package var size: Int64?
    /// The type and the permissions, as in stat(2).
    package var mode: UInt32?
    /// The modification time, in seconds since 1970.
    package var modified: Int64?

    package init(size: Int64? = nil, mode: UInt32? = nil, modified: Int64? = nil) {
      (self.size, self.mode, self.modified) = (size, mode, modified)
    }

    package var kind: ServerItem.Kind {
      switch (mode ?? 0) >> 12 {
      case 0o04: .folder
      case 0o12: .link
      case 0o01: .fifo
      case 0o14: .socket
      case 0o02: .characterDevice
      case 0o06: .blockDevice
      default: .file
      }
    }

    /// The version of a file, in the form of an entity tag.
    package var tag: String { "\"\(size ?? -1)-\(modified ?? -1)\"" }

    /// Returns the item of these attributes.
    package func item(named name: FileName, target: [UInt8]?) -> ServerItem {
      var item = ServerItem()
      item.name = name
      item.kind = kind
      item.size = .exact(kind == .file ? size ?? 0 : 0)
      item.modified = Timestamp(seconds: modified ?? 0)
      if kind == .file { item.tag = tag }
      if kind == .link, let target {
        item.target = target
        item.size = .exact(Int64(target.count))
      }
      return item
    }
  }

  /// The types of requests.
  package enum Kind: UInt8, Sendable {
    case open = 3
    case close = 4
    case read = 5
    case lstat = 7
    case fstat = 8
    case opendir = 11
    case readdir = 12
    case stat = 17
    case readlink = 19
  }

  /// The maximum size of a packet, in bytes.
  package static let largest = 256 << 10

  /// The packet that starts the protocol.
  package static let start: [UInt8] = [0, 0, 0, 5, 1, 0, 0, 0, 3]

  /// Returns the packet of a request.
  ///
  /// - Parameters:
  ///   - strings: paths and handles.
  ///   - rest: the bytes after them.
  package static func request(_ kind: Kind, id: UInt32, _ strings: [[UInt8]], rest: [UInt8] = []) -> [UInt8] {
    var body = [kind.rawValue] + [UInt8](bigEndian: id)
    for string in strings { body += [UInt8](bigEndian: UInt32(truncatingIfNeeded: string.count)) + string }
    body += rest
    return [UInt8](bigEndian: UInt32(truncatingIfNeeded: body.count)) + body
  }

  /// Parses a packet without its length. Throws if it is malformed.
  package static func response(_ packet: ArraySlice<UInt8>) throws(Fault) -> (id: UInt32, response: Response) {
    var reader = Reader(rest: packet)
    let kind = try reader.byte()
    if kind == 2 { return (0, .version(try reader.word())) }
    let id = try reader.word()
    switch kind {
    case 101:
      let code = try reader.word()
      // Old servers send no message.
      let message = (try? reader.string()).map { String(decoding: $0.prefix(200), as: UTF8.self) } ?? ""
      return (id, .status(code, String(message.map { $0.isASCII && $0 >= " " ? $0 : " " })))
    case 102:
      let handle = try reader.string()
      guard handle.count <= 256 else { throw Reader.malformed }
      return (id, .handle(Array(handle)))
    case 103:
      let data = try reader.string()
      return (id, .data(data.startIndex..<data.endIndex))
    case 104:
      let count = try reader.word()
      var names: [(name: [UInt8], attributes: Attributes)] = []
      for _ in 0..<count {
        let name = try reader.string()
        _ = try reader.string()
        names.append((Array(name), try reader.attributes()))
      }
      return (id, .names(names))
    case 105: return (id, .attributes(try reader.attributes()))
    default: throw Reader.malformed
    }
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    static let malformed = Fault(.damaged, "the server's answer is not one of SFTP version 3")

    mutating func byte() throws(Fault) -> UInt8 {
      guard let byte = rest.popFirst() else { throw Self.malformed }
      return byte
    }

    mutating func word() throws(Fault) -> UInt32 {
      guard rest.count >= 4 else { throw Self.malformed }
      defer { rest = rest.dropFirst(4) }
      return rest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    }

    mutating func string() throws(Fault) -> ArraySlice<UInt8> {
      let count = Int(try word())
      guard count <= rest.count else { throw Self.malformed }
      defer { rest = rest.dropFirst(count) }
      return rest.prefix(count)
    }

    mutating func attributes() throws(Fault) -> Attributes {
      var found = Attributes()
      let flags = try word()
      if flags & 1 != 0 {
        let size = UInt64(try word()) << 32 | UInt64(try word())
        found.size = Bounds.size(size)
      }
      if flags & 2 != 0 {
        _ = try word()
        _ = try word()
      }
      if flags & 4 != 0 { found.mode = try word() }
      if flags & 8 != 0 {
        _ = try word()
        found.modified = Int64(try word())
      }
      if flags & 0x8000_0000 != 0 {
        for _ in 0..<(try word()) {
          _ = try string()
          _ = try string()
        }
      }
      return found
    }
  }
}
