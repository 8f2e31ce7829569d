internal import Bytes
internal import Codecs

/// What becomes of a name that an archive records: safe components, nothing outside the tree.
enum EntryName {
  /// NAME_MAX.
  static let longestComponent = 255
  /// PATH_MAX, less its NUL.
  static let longestPath = 4095

  /// Splits a UTF-8 path at `/`: leading `/`, `./` and `../` are stripped; an inner `.`, `..` or empty component, and each
  /// NUL or control character, becomes `?`; long components are cut. Gives whether the path ends in `/`.
  static func components(of path: ArraySlice<UInt8>) -> (components: [ArraySlice<UInt8>], isFolder: Bool) {
    var rest = path
    stripping: while true {
      for lead in [[0x2f], [0x2e, 0x2f], [0x2e, 0x2e, 0x2f]] as [[UInt8]] where rest.starts(with: lead) {
        rest = rest.dropFirst(lead.count)
        continue stripping
      }
      break
    }
    let isFolder = path.last == 0x2f
    if rest.last == 0x2f { rest = rest.dropLast() }
    if rest.isEmpty { return (isFolder ? [] : [[0x3f]], isFolder) }
    return (rest.split(separator: 0x2f, omittingEmptySubsequences: false).map(safe), isFolder)
  }

  /// Whether a component can stay as it is.
  static func isSafe(_ component: ArraySlice<UInt8>) -> Bool {
    guard let first = component.first, component.count <= longestComponent, first != 0x2e || component.count > 2 else {
      return false
    }
    return !component.contains { $0 < 0x20 || $0 == 0x7f }
  }

  private static func safe(_ component: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    if isSafe(component) { return component }
    if component.isEmpty { return [0x3f] }
    if component.count <= 2, component.allSatisfy({ $0 == 0x2e }) { return [0x3f] }
    var result = component
    if component.contains(where: { $0 < 0x20 || $0 == 0x7f }) {
      result = ArraySlice(component.map { $0 < 0x20 || $0 == 0x7f ? 0x3f : $0 })
    }
    return cut(result, to: longestComponent)
  }

  /// The first `limit` bytes or fewer, ending where a character ends.
  static func cut(_ name: ArraySlice<UInt8>, to limit: Int) -> ArraySlice<UInt8> {
    guard name.count > limit else { return name }
    var end = name.startIndex + limit
    // A UTF-8 character has at most three continuation bytes.
    for _ in 0..<3 where name[end] & 0xC0 == 0x80 { end -= 1 }
    return name[..<end]
  }

  /// `name` with ` (number)` before its extension, `.tar.gz` counted as one, cut to fit.
  static func numbered(_ name: ArraySlice<UInt8>, _ number: Int) -> [UInt8] {
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
    let mark = Array(" (\(number))".utf8)
    return Array(cut(stem, to: longestComponent - mark.count - tail.count)) + mark + Array(tail)
  }
}

extension RawSpan {
  var crc32: UInt32 {
    var sum = CRC32()
    unsafe withUnsafeBytes { unsafe sum.update($0) }
    return sum.value
  }
}
