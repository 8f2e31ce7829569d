/// A symbolic link or junction of a file system of Windows ([MS-FSCC] 2.1.2).
struct ReparsePoint {
  /// The target as UTF-8, with slashes.
  let target: [UInt8]

  private enum Tag: UInt32 {
    case junction = 0xa000_0003
    case link = 0xa000_000c
    /// A symbolic link of the Windows Subsystem for Linux.
    case unixLink = 0xa000_001d
  }

  private static let headSize = 8

  /// Reads a reparse point with its header. Returns `nil` if it is damaged or of another kind.
  init?(_ bytes: [UInt8]) {
    func number(_ offset: Int, _ count: Int) -> Int? {
      guard offset + count <= bytes.count else { return nil }
      return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    guard let tag = number(0, 4).flatMap({ Tag(rawValue: UInt32($0)) }), let size = number(4, 2),
      Self.headSize + size <= bytes.count
    else { return nil }
    let end = Self.headSize + size
    let target: [UInt8]
    switch tag {
    case .unixLink:
      let start = Self.headSize + 4
      guard start < end else { return nil }
      target = Array(bytes[start..<end])
    case .junction, .link:
      // The names follow their offsets and sizes and, in links, flags.
      let names = Self.headSize + (tag == .link ? 12 : 8)
      // The printed name is for people, and may be empty. The other one has a prefix if it is absolute.
      var found: String?
      for field in [12, 8] where found == nil {
        guard let offset = number(field, 2), let count = number(field + 2, 2), count > 0,
          names + offset + count <= end
        else { continue }
        let units = (0..<count / 2).compactMap { number(names + offset + 2 * $0, 2).map { UInt16($0) } }
        found = String(decoding: units, as: UTF16.self)
      }
      guard var path = found?.unicodeScalars.prefix(while: { $0 != "\0" }) else { return nil }
      if path.starts(with: #"\??\"#.unicodeScalars) { path.removeFirst(4) }
      target = String(path).utf8.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
    }
    guard !target.isEmpty, !target.contains(0) else { return nil }
    self.target = target
  }
}
