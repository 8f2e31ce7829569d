package import Bytes
package import Catalogue
internal import Codecs
package import Jobs
internal import Tar
package import Threads
package import Tree
package import Unpacking
package import Zip

/// `NAME.contents/`: the tree in an archive, or the content of a compressed file.
package struct ContentsView: FolderView {
  package let name = "contents"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions: Set<FileExtension>
  private let listsUnnamed: Bool
  private let listsOthers: Bool
  private let listsDisks: Bool
  private let archives: Archives

  package static let suffix: StaticString = ".contents"
  /// The extensions of files commonly regarded as archives or as compressed.
  private static let usual: Set<FileExtension> = Set(zips + ["tar", "cbt"] + packed)
  private static let zips: [FileExtension] = ["zip", "cbz", "zipx"]
  private static let packed = CompressedFormat.allCases.flatMap(\.extensions).map(\.own)
  /// The extensions of ZIPs commonly regarded as something else.
  private static let byName: Set<FileExtension> = [
    "jar", "war", "ear", "aar", "apk", "ipa", "whl", "egg", "xpi", "crx", "nupkg", "vsix", "kmz", "epub",
    "docx", "docm", "dotx", "xlsx", "xlsm", "xltx", "pptx", "pptm", "potx", "odt", "ods", "odp", "odg", "ott",
  ]

  package var descriptions: [ViewDescription] {
    let own = ViewDescription(
      Self.spelling, listed: Self.usual,
      sources: "any ZIP archive, also in parts (`.zip.001`), any TAR archive, any compressed file",
      "the tree inside the archive, or the content of the compressed file")
    let others = ViewDescription(
      Self.spelling, listed: ListedFormat.usual,
      sources: "7z, RAR, ISO 9660, cpio, ar, deb, rpm, cab, LHA, xar, WARC and mtree",
      "the tree inside the archive, or the content of the compressed file")
    let cards = ViewDescription(
      Self.spelling, sources: "any calendar (iCalendar) and any file of contacts (vCard)",
      "each entry as a separate file, and the pictures of contacts")
    let disks = ViewDescription(
      Self.spelling, listed: ListedFormat.disks,
      sources: "ext2 to ext4, FAT, exFAT, NTFS, HFS+, APFS, UDF, SquashFS, CramFS, partition tables, QCOW2, VMDK, VDI, "
        + "VHD, VHDX, DMG, WIM, CHM, ARJ and MSI",
      "the files, the partitions or the disk in the image")
    return [own] + (listsOthers ? [others] : []) + (listsDisks ? [disks] : []) + [cards]
  }

  /// - Parameter readers: The workers that list and unpack archives without a parser here.
  package init(
    listing: ViewListing, _ unpacking: Unpacking, _ readers: [ArchiveReader: ConversionService], _ options: ZipOptions,
    _ memory: MemoryBudget
  ) {
    listsOthers = readers[.library] != nil
    listsDisks = readers[.disk] != nil
    let usual = Self.usual.union(listsOthers ? ListedFormat.usual : []).union(listsDisks ? ListedFormat.disks : [])
    let byName = Self.byName.union(listsOthers ? ListedFormat.byName : [])
      .union(listsDisks ? ListedFormat.disksByName : [])
    possibleExtensions = usual.union(byName)
    let extensions = listing.extensions(usual, byName: byName)
    listsUnnamed = extensions.contains("zip")
    listedExtensions = listsUnnamed ? extensions.union([SplitFile.first]) : extensions
    archives = Archives(unpacking, readers, options, memory)
  }

  package func purpose(beside file: FileName) -> ListingPurpose { .opening }

  package func isListed(beside file: FileName) -> Bool {
    guard let fileExtension = file.fileExtension else { return false }
    if fileExtension != SplitFile.first { return listedExtensions.contains(fileExtension) }
    return listsUnnamed && file.dropping(suffix: ".001").map { isListed(beside: $0) } ?? false
  }

  /// Returns the names of the first volume, which has the view.
  package func alternatives(of file: FileName) -> [FileName] { PartNames.leaders(of: file) }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed
      && (ZipArchive.isStart(head) || TarArchive.isStart(head)
        || listsOthers && ListedFormat.isStart(head) || listsDisks && ListedFormat.isDisk(head))
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    // Converted files are not archives.
    if source.item.knownHead != nil { return nil }
    if try SplitFile.isFurther(source, blocking) { return nil }
    let whole = try SplitFile.whole(of: source, blocking)
    let archive = archives.archive(of: whole)
    // A view that is listed exists without a check. Otherwise, the content of this part decides, because the process
    // may not be permitted to read the other parts.
    if !source.isConcealed, !isListed(beside: source.name), try !archives.archive(of: source).mayBeArchive(blocking) {
      return nil
    }
    let root = ArchiveItem(archive)
    return LookupResult(root, try root.attributes(blocking))
  }
}
