internal import Bytes
internal import Catalogue
internal import Tree

/// Names that end in a conversion's word: `NAME[.MODIFIER…].WORD.EXTENSION`.
extension Conversion {
  var suffix: String { ".\(word).\(result.extensions.first?.text ?? result.name)" }

  /// The extensions of such names.
  var endings: Set<FileExtension> { Set(result.extensions.prefix(1)) }

  func name(beside file: FileName) -> FileName { FileName(file.bytes + Array(suffix.utf8)) }

  /// What a name asks for; nothing if it does not end so.
  func requests(for name: FileName) -> [ViewRequest] {
    guard name.bytes.reversed().starts(with: suffix.utf8.reversed()) else { return [] }
    return ViewRequest.all(name.bytes.dropLast(suffix.utf8.count), [self])
  }
}
