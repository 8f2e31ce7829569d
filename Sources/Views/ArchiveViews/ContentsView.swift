package import Bytes
internal import Codecs
package import Index
package import Threads
package import Tree
package import Zip

/// `NAME.contents/`: the tree in a ZIP archive.
package struct ContentsView: FolderView {
  package let name = "contents"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions = usual.union(byName)
  private let listsUnnamed: Bool
  private let archives: Archives

  package static let suffix: StaticString = ".contents"
  /// ZIPs commonly regarded as archives.
  private static let usual: Set<FileExtension> = ["zip", "cbz", "zipx"]
  /// ZIPs commonly regarded as something else.
  private static let byName: Set<FileExtension> = [
    "jar", "war", "ear", "aar", "apk", "ipa", "whl", "egg", "xpi", "crx", "nupkg", "vsix", "kmz", "epub",
    "docx", "docm", "dotx", "xlsx", "xlsm", "xltx", "pptx", "pptm", "potx", "odt", "ods", "odp", "odg", "ott",
  ]

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, listed: Self.usual, sources: "any ZIP archive, also in parts (`.zip.001`)",
        "the tree inside the archive")
    ]
  }

  package init(listing: ViewListing, decodedCache: Int, index: Index?, _ options: ZipOptions, _ memory: MemoryBudget) {
    let extensions = listing.extensions(Self.usual, byName: Self.byName)
    listsUnnamed = !listing.isOff && extensions.contains("zip")
    listedExtensions = listsUnnamed ? extensions.union([SplitFile.first]) : extensions
    let restarts = index.map { IndexedRestarts(index: $0) }
    let decoded = ChunkCache(capacity: decodedCache, restarts: restarts, memory)
    archives = Archives(decoded: decoded, options, memory)
  }

  package func isListed(beside file: FileName) -> Bool {
    guard let fileExtension = file.fileExtension else { return false }
    if fileExtension != SplitFile.first { return listedExtensions.contains(fileExtension) }
    return listsUnnamed && file.dropping(suffix: ".001").map { isListed(beside: $0) } ?? false
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed && ZipArchive.isStart(head)
  }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    // Converted files are not archives.
    if source.item.knownHead != nil { return nil }
    let whole = try SplitFile.whole(of: source, patience)
    let archive = archives.archive(of: whole)
    // Where a listing shows the view, it exists without a check; otherwise the content decides: that of this part only,
    // as the process may not be permitted to read the others.
    if !source.isConcealed, !isListed(beside: source.name), try !archives.archive(of: source).isArchive(patience) {
      return nil
    }
    let root = ArchiveItem(archive)
    return Found(root, try root.attributes(patience))
  }
}
