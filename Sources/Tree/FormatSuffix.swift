package import Bytes
package import Catalogue

/// The end of a name by which a file is wanted in a format: `NAME.as-jpeg` and `NAME.as.jpg`.
///
/// Programs that know a file by its extension know the second; the first cannot be a file's own.
public enum FormatSuffix: Sendable {
  /// `.as-jpeg`: the format's name.
  case name
  /// `.as.jpg`: one of the format's extensions.
  case fileExtension

  private static let dot = UInt8(ascii: ".")
  private static let marker = Array("as".utf8)

  /// The name of a file in a format.
  package func name(of file: FileName, as format: Format) -> FileName {
    switch self {
    case .name: FileName(file.bytes + Array(".as-\(format.name)".utf8))
    case .fileExtension:
      FileName(file.bytes + Array(".as.\(format.extensions.first?.text ?? format.name)".utf8))
    }
  }

  /// The extensions of names that ask for a format.
  package static func endings(of format: Format) -> Set<FileExtension> {
    Set(wordEndings(of: format).map { FileExtension($0.utf8) } + format.extensions)
  }

  /// `as-jpeg`, `as-jpg`.
  package static func wordEndings(of format: Format) -> [String] {
    ([format.name] + format.otherNames).map { "as-\($0)" }
  }

  /// What is before the suffix, and whether the suffix asks for a format; nil if there is none.
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
