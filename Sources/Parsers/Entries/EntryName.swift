internal import Text

/// Functions that make recorded names safe: valid components, nothing outside the tree.
public enum EntryName {
  /// The maximum length of a path, in bytes: PATH_MAX without its NUL.
  public static let longestPath = 4095

  /// Splits a UTF-8 path at `/`. Leading `/`, `./` and `../` are stripped. An inner `.`, `..` or empty component, and
  /// each NUL or control character, becomes `?`. Long components are cut. `isFolder` is whether the path ends in `/`.
  public static func components(of path: ArraySlice<UInt8>) -> (components: [ArraySlice<UInt8>], isFolder: Bool) {
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
    return (rest.split(separator: 0x2f, omittingEmptySubsequences: false).map(SafeName.safe), isFolder)
  }
}
