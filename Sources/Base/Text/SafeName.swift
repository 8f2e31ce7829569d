/// Makes a recorded name valid as a file name in the tree.
public enum SafeName {
  /// The maximum length of a name in bytes: NAME_MAX.
  public static let longest = 255

  /// Returns whether a name needs no change.
  public static func isSafe(_ name: ArraySlice<UInt8>) -> Bool {
    guard let first = name.first, name.count <= longest, first != 0x2e || name.count > 2 else { return false }
    return !name.contains { $0 < 0x20 || $0 == 0x7f }
  }

  /// Makes a UTF-8 name without `/` safe. An empty name, `.` and `..` become `?`, as does each NUL or control
  /// character. A name that is too long is cut.
  public static func safe(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    if isSafe(name) { return name }
    if name.isEmpty { return [0x3f] }
    if name.count <= 2, name.allSatisfy({ $0 == 0x2e }) { return [0x3f] }
    var result = name
    if name.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
      result = ArraySlice(name.map { $0 < 0x20 || $0 == 0x7f ? 0x3f : $0 })
    }
    return cut(result, to: longest)
  }

  /// Returns the first `limit` bytes or fewer, cut at a character boundary.
  public static func cut(_ name: ArraySlice<UInt8>, to limit: Int) -> ArraySlice<UInt8> {
    guard name.count > limit else { return name }
    var end = name.startIndex + limit
    // A UTF-8 character has at most three continuation bytes.
    for _ in 0..<3 where end > name.startIndex && name[end] & 0xC0 == 0x80 { end -= 1 }
    return name[..<end]
  }

  /// Returns `name` with ` (number)` before its extension, cut to fit. `.tar.gz` counts as one extension.
  public static func numbered(_ name: ArraySlice<UInt8>, _ number: Int) -> [UInt8] {
    let (stem, tail) = parts(name)
    let mark = Array(" (\(number))".utf8)
    return Array(cut(stem, to: longest - mark.count - tail.count)) + mark + Array(tail)
  }

  /// Cuts a name to `limit` bytes, which is at least 64, before its extension.
  public static func cut(_ name: ArraySlice<UInt8>, keepingExtensionTo limit: Int) -> [UInt8] {
    guard name.count > limit else { return Array(name) }
    let (stem, tail) = parts(name)
    return Array(cut(stem, to: max(0, limit - tail.count))) + Array(cut(tail, to: limit))
  }

  /// Returns a name's stem, and its extension with the dot. `.tar.gz` counts as one extension. An extension over 64
  /// bytes counts as none.
  private static func parts(_ name: ArraySlice<UInt8>) -> (stem: ArraySlice<UInt8>, tail: ArraySlice<UInt8>) {
    var stem = name
    var tail: ArraySlice<UInt8> = []
    if let dot = name.lastIndex(of: 0x2e), dot > name.startIndex, name.endIndex - dot <= 64 {
      stem = name[..<dot]
      tail = name[dot...]
      let tar: [UInt8] = Array(".tar".utf8)
      if stem.count > tar.count, stem.suffix(tar.count).elementsEqual(tar) {
        stem = stem.dropLast(tar.count)
        tail = name[(dot - tar.count)...]
      }
    }
    return (stem, tail)
  }
}
