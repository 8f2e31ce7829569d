package import Bytes
internal import Conversion
package import Tree

/// `NAME[.MODIFIER…].as-FORMAT`: an image as another kind of image, the first page of a PDF as one, a PDF's text.
package struct RenditionView: View {
  package let name = "rendition"
  package let kind = Kind.file
  package let listedExtensions: Set<FileExtension>
  package static var possibleExtensions: Set<FileExtension> { otherImages }
  private let listsUnnamed: Bool
  private let conversions: Conversions

  /// Those that `.as-jpeg` is listed beside.
  private static let otherImages = shownImages.union(rawPhotos)
  private static let shownImages: Set<FileExtension> = [
    "heic", "heif", "avif", "png", "webp", "gif", "tif", "tiff", "bmp", "jp2", "j2k", "pbm", "pgm", "ppm", "pnm", "exr",
    "svg",
  ]
  private static let rawPhotos: Set<FileExtension> = [
    "dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "pef", "srw",
  ]
  private static let jpegs: Set<FileExtension> = ["jpg", "jpeg", "jpe"]
  /// Images by their names, but for raw photos, which mostly lie beside what was made of them.
  static let images = shownImages.union(jpegs)
  private static let marker = Array("as-".utf8)
  private static let dot = UInt8(ascii: ".")

  package static var descriptions: [ViewDescription] {
    let others = ImageFormat.allCases.filter { $0 != .jpeg && $0 != .pdf }.map(\.rawValue).joined(separator: ", ")
    return [
      ViewDescription(
        "NAME.as-jpeg", listed: otherImages, sources: "any image or PDF", "the image, or the first page, as JPEG",
        modifiers: ImageChanges.described),
      ViewDescription(
        "NAME.as-FORMAT", sources: "any image or PDF", "the same as another format: \(others)",
        modifiers: ImageChanges.described),
      ViewDescription(
        "NAME.as-pdf", sources: "any image", "the image, or all pages of a TIFF, as a PDF",
        modifiers: ImageChanges.described),
      ViewDescription("NAME.as-txt", sources: "any PDF", "its text in reading order"),
    ]
  }

  package init(listing: ViewListing, _ conversions: Conversions) {
    listedExtensions = listing.extensions(Self.otherImages)
    listsUnnamed = !listing.isOff
    self.conversions = conversions
  }

  package var endings: Set<FileExtension> {
    Set((ImageFormat.spellings + ["txt"]).map { FileExtension(Self.marker + Array($0.utf8)) })
  }

  package func listedName(beside file: FileName) -> FileName { file.appending(".as-jpeg") }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    ViewRequest(source: file, recipe: .image(.jpeg, ImageChanges()))
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed && FileSignature(startingWith: head) == .otherImage
  }

  package func requests(for name: FileName) -> [ViewRequest] {
    let bytes = name.bytes
    guard let end = bytes.lastIndex(of: Self.dot), bytes[(end + 1)...].starts(with: Self.marker) else { return [] }
    let format = String(decoding: bytes[(end + 1 + Self.marker.count)...], as: UTF8.self)
    var source = bytes[..<end]
    guard !source.isEmpty else { return [] }
    if format == "txt" { return [ViewRequest(source: FileName(source), recipe: .text)] }
    guard let format = ImageFormat(spelling: format) else { return [] }
    var changes = ImageChanges()
    var requests = [ViewRequest(source: FileName(source), recipe: .image(format, changes))]
    // None may be said twice, so there are few.
    while let dot = source.lastIndex(of: Self.dot), dot > source.startIndex,
      changes.add(Substring(String(decoding: source[(dot + 1)...], as: UTF8.self)))
    {
      source = source[..<dot]
      requests.append(ViewRequest(source: FileName(source), recipe: .image(format, changes)))
    }
    return requests
  }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    guard let recipe = request.recipe else { return nil }
    if !source.isConcealed {
      guard let kind = try signature(of: source, patience), Self.makes(recipe, of: kind, source) else { return nil }
    }
    let size = source.attributes.size
    let (estimate, view) =
      if case .image(let format, _) = recipe {
        (SizeEstimate.ofImage(format, fromFileOf: size), "as-\(format.rawValue)")
      } else {
        (SizeEstimate.ofText(fromFileOf: size), "as-txt")
      }
    let item = RenditionFile(
      SourceState(source), recipe, conversions, view: view, estimate: estimate)
    return Found(item, try item.attributes(patience))
  }

  private func signature(of source: Source, _ patience: Patience) throws(Fault) -> FileSignature? {
    // A name that a listing shows keeps its word without a look inside.
    if source.item.knownHead == nil {
      if source.isNamed(among: Self.otherImages) { return .otherImage }
      if source.isNamed(among: Self.jpegs) { return .jpeg }
      if source.isNamed(among: PagesView.usual) { return .pdf }
    }
    return FileSignature(startingWith: try source.head(patience))
  }

  private static func makes(_ recipe: Recipe, of kind: FileSignature, _ source: Source) -> Bool {
    switch recipe {
    case .pages, .merged, .compressed: false
    case .text: kind == .pdf
    case .image(let format, let changes):
      kind == .pdf ? format != .pdf : changes.resolution == nil || source.isNamed(among: ["svg"])
    }
  }
}
