package import Bytes
package import Tree

/// `NAME.sha256`: the checksums of an archive's files. `FOLDER.sha256`: those of a folder's files. Both by name.
package struct SumsView: View {
  package let name = "sha256"
  package let kind = Kind.file
  package let sourceKind: Kind
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  package let endings: Set<FileExtension> = ["sha256"]
  /// The view of archives.
  private let contents: ContentsView

  private static let suffix: StaticString = ".sha256"

  package var descriptions: [ViewDescription] {
    let isOfFolders = sourceKind == .folder
    return [
      ViewDescription(
        "\(isOfFolders ? "FOLDER" : "NAME")\(Self.suffix)", sources: isOfFolders ? "any folder" : "any archive",
        "the SHA-256 checksums of the files in it, for `sha256sum -c`")
    ]
  }

  /// - Parameter sourceKind: `.file` for archives, or `.folder`.
  package init(of sourceKind: Kind, _ contents: ContentsView) {
    self.sourceKind = sourceKind
    self.contents = contents
  }

  package func listedName(beside file: FileName) -> FileName { file.appending(Self.suffix) }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    name.dropping(suffix: Self.suffix).map { [ViewRequest(source: $0)] } ?? []
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard source.attributes.kind == sourceKind else { return nil }
    var folder = LookupResult(source.item, source.attributes)
    if sourceKind == .file {
      guard let found = try contents.item(of: source, request, blocking) else { return nil }
      folder = found
    }
    let item = try SumsFile(SourceState(source), of: folder, blocking)
    return LookupResult(item, try item.attributes(blocking))
  }
}
