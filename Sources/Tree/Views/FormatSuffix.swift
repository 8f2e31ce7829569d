package import Bytes
package import Catalogue

/// The end of a name that requests a file in another format: `NAME.as-jpeg` or `NAME.as.jpg`.
///
/// Programs that recognize files by extension understand the second form. The first form cannot be a file's own name.
public enum FormatSuffix: Sendable {
  /// The format's name: `.as-jpeg`.
  case name
  /// One of the format's extensions: `.as.jpg`.
  case fileExtension

  private static let dot = UInt8(ascii: ".")
  private static let marker = Array("as".utf8)

  /// Returns the name of a file in a format.
  package func name(of file: FileName, as format: Format) -> FileName {
    switch self {
    case .name: FileName(file.bytes + Array(".as-\(format.name)".utf8))
    case .fileExtension:
      FileName(file.bytes + Array(".as.\(format.extensions.first?.text ?? format.name)".utf8))
    }
  }

  /// Returns the extensions of names that request a format.
  package static func endings(of format: Format) -> Set<FileExtension> {
    Set(wordEndings(of: format).map { FileExtension($0.utf8) } + format.extensions)
  }

  /// Returns the extensions of the first form, such as `as-jpeg` and `as-jpg`.
  package static func wordEndings(of format: Format) -> [String] {
    ([format.name] + format.otherNames).map { "as-\($0)" }
  }

  /// Returns the name before the suffix, and whether the suffix requests a format. Returns `nil` if there is none.
  package static func split(_ name: FileName) -> (source: ArraySlice<UInt8>, asksFor: (Format) -> Bool)? {
    let bytes = name.bytes[...]
    guard let end = bytes.lastIndex(of: dot) else { return nil }
    let last = bytes[(end + 1)...]
    let before = bytes[..<end]
    if last.starts(with: marker), last.dropFirst(marker.count).first == UInt8(ascii: "-") {
      let word = String(decoding: last.dropFirst(marker.count + 1), as: UTF8.self)
      return before.isEmpty ? nil : (before, { $0.name == word || $0.otherNames.contains(word) })
    }
    guard before.count > marker.count + 1, before.suffix(marker.count).elementsEqual(marker) else { return nil }
    let source = before.dropLast(marker.count)
    guard source.last == dot else { return nil }
    let word = FileExtension(last)
    return (source.dropLast(), { $0.extensions.contains(word) })
  }
}
