package import Bytes
internal import Catalogue
package import Jobs
package import Threads
package import Tree
package import Unpacking
package import Zip

/// `NAME.deleted/`: the deleted files of a file system's image, by name.
package struct DeletedView: FolderView {
  package let name = "deleted"
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let archives: Archives

  package static let suffix: StaticString = ".deleted"
  private static let extensions: Set<FileExtension> = ["ntfs", "fat", "exfat", "ext2", "ext3", "ext4"]

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, sources: "images of NTFS, FAT, exFAT and ext2 to ext4",
        "the deleted files whose names and bytes can still be found")
    ]
  }

  /// - Parameter reader: The worker that finds deleted files.
  package init(_ unpacking: Unpacking, _ reader: ConversionService, _ options: ZipOptions, _ memory: MemoryBudget) {
    archives = Archives(unpacking, [.deleted: reader], options, memory)
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    if source.item.knownHead != nil { return nil }
    // A file that is named as an image of one of these has the view without a check.
    if !source.isConcealed, source.name.fileExtension.map({ !Self.extensions.contains($0) }) ?? true {
      if blocking == .immediate { throw .later }
      let bytes = try source.open(.recognition, blocking).available
      guard let format = try ListedFormat.disk(bytes, blocking), format.hasDeletedFiles else { return nil }
    }
    let root = ArchiveItem(archives.archive(of: source))
    return LookupResult(root, try root.attributes(blocking))
  }
}
