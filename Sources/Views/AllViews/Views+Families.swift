internal import ArchiveViews
public import Bytes
internal import Catalogue
internal import EncryptedFiles
internal import Files
public import FindViews
public import Index
internal import Jobs
internal import MailViews
public import RenditionViews
internal import TableViews
internal import Tables
public import Threads
public import Tree
internal import Unpacking
public import Zip

extension Views {
  /// - Parameters:
  ///   - index: Stores results that are expensive to determine. Nil if nothing outlives the mount.
  ///   - spools: The directory of the unnamed temporary files for data that can only be decoded sequentially.
  ///   - conversions: Nil if nothing is converted.
  ///   - searches: The searches of folders. Nil if there are none.
  ///   - memory: The budget of all caches in memory.
  public init(
    listing: ViewListing = ViewListing(), depth: Int = 4, decoded cache: Int = 16 << 20, index: Index? = nil,
    zip: ZipOptions = ZipOptions(), spools: String? = nil, conversions: Conversions? = nil,
    searches: FindService? = nil, memory: MemoryBudget = MemoryBudget()
  ) {
    var zip = zip
    if let spools { zip.spool = { try? TemporaryFile(in: spools) } }
    let unpacking = Unpacking(
      cache: cache, index: index, spool: zip.spool, largestSize: zip.largestSize, largestRatio: zip.largestRatio,
      showsDamage: zip.showsDamage, memory
    )
    let services = ViewServices(
      listing: listing, unpacking: unpacking, index: index, zip: zip, conversions: conversions, searches: searches,
      memory: memory)
    self.init(
      Self.families.flatMap { $0(services) }, listing: listing, depth: depth,
      decryption: FileDecryption(zip.passwords, unpacking.decoded))
  }

  /// The families of views, in the order in which they are consulted, with one line each.
  private static let families: [@Sendable (ViewServices) -> [any View]] = [
    { archives($0) },
    { mail($0) },
    { tables($0) },
    { services in services.conversions.map { renditions(services.listing, $0) } ?? [] },
    { services in services.searches.map { [SearchView($0), SavedSearchView($0)] } ?? [] },
  ]

  private static func archives(_ services: ViewServices) -> [any View] {
    let contents = ContentsView(
      listing: services.listing, services.unpacking, services.archiveReaders, services.zip, services.memory)
    let deleted = services.workers(for: .entries(by: .deleted)).map {
      DeletedView(services.unpacking, $0, services.zip, services.memory)
    }
    return [contents] + [deleted].compactMap(\.self)
      + [SumsView(of: .file, contents), SumsView(of: .folder, contents)]
  }

  private static func mail(_ services: ViewServices) -> [any View] {
    let mailboxes = Mailboxes(index: services.index, services.memory)
    let messages = MessagesView(
      listing: services.listing, mailboxes, services.unpacking, stores: services.mailWorkers.map { MailStores($0) })
    return [
      messages, MailViewsView(besides: messages, mailboxes),
      MessageView(listing: services.listing, mailboxes.messages, outlook: services.conversions?.outlook),
      FolderMessagesView(besides: messages, mailboxes),
      FolderMailView(listing: services.listing, besides: messages, mailboxes),
    ]
  }

  private static func tables(_ services: ViewServices) -> [any View] {
    let known = services.conversions?.known ?? ResultSizes(index: services.index)
    let tables = RewrittenText.Memory(capacity: tableMemory, services.memory)
    return TableForm.allCases.map { TableView($0, known, tables) }
  }

  /// The size of the cache of generated tables, in bytes.
  private static let tableMemory = 8 << 20

  private static func renditions(_ listing: ViewListing, _ conversions: Conversions) -> [any View] {
    let views: [(verb: String?, view: any View)] = [
      (Conversion.pages.verb, PagesView(listing: listing, conversions)),
      (Conversion.compressed.verb, CompressedView(listing: listing, conversions)),
      (nil, RenditionView(listing: listing, conversions)),
      (Conversion.sheet.verb, SheetsView(conversions)),
    ]
    let named = conversions.catalogue.conversions.compactMap { conversion -> (any View)? in
      switch conversion.naming {
      case .whole: WholeView(conversion, conversions)
      case .folder: FolderDocumentView(conversion, conversions)
      case .suffix, .stem, .inView: nil
      }
    }
    return views.filter { view in view.verb.map { conversions.catalogue.conversion($0) != nil } ?? true }.map(\.view)
      + named + [ScannedFolderView(conversions)].compactMap(\.self) + [TilesView(conversions)].compactMap(\.self)
      + films(listing, conversions)
  }

  private static func films(_ listing: ViewListing, _ conversions: Conversions) -> [any View] {
    let views: [(any View)?] = [
      StreamsView(listing: listing, conversions), FramesView(conversions), SegmentsView(conversions),
      RecordView(listing: listing, conversions),
    ]
    return views.compactMap(\.self)
  }

  // MARK: Properties of all views

  /// All views of a full installation.
  private static let known = Views(conversions: .withoutWorkers, searches: .described)

  package static var types: [any View.Type] { known.all.map { type(of: $0) } }

  /// The extensions of files beside which a view can be listed, for `-o views=`.
  public static let possibleExtensions: Set<FileExtension> =
    known.all.reduce(into: []) { $0.formUnion($1.possibleExtensions) }

  /// The names of the views that a listing can show, for `-o views=-`.
  public static let listedNames: Set<String> =
    known.all.filter { !$0.possibleExtensions.isEmpty }.reduce(into: []) { $0.formUnion($1.names) }

  /// The MIME types of files by the ends of their names: `as-jpeg` is `image/jpeg`.
  public static var mimeTypes: [(ending: String, type: String)] {
    var seen: Set<String> = []
    return known.all.flatMap(\.formats).flatMap { format in
      FormatSuffix.wordEndings(of: format).map { ($0, format.mimeType) }
    }.filter { seen.insert($0.0).inserted }
  }

  /// Returns the usual extension of files by the end of a view's name: `jpg` for `as-jpeg`. Returns `nil` for another
  /// name.
  public static func fileExtension(ofEnding ending: String) -> String? {
    for format in known.all.flatMap(\.formats) where FormatSuffix.wordEndings(of: format).contains(ending) {
      return format.extensions.first?.text ?? format.name
    }
    return nil
  }

  /// The descriptions of the views, in the order in which they are consulted.
  public static var descriptions: [ViewDescription] { known.all.flatMap(\.descriptions) }
}

extension FileDecryption: Decryption {}

/// The dependencies of views.
private struct ViewServices: Sendable {
  let listing: ViewListing
  let unpacking: Unpacking
  let index: Index?
  let zip: ZipOptions
  let conversions: Conversions?
  let searches: FindService?
  let memory: MemoryBudget

  /// The workers that list archives without a parser here.
  var archiveReaders: [ArchiveReader: ConversionService] {
    [ArchiveReader.library, .disk].reduce(into: [:]) { $0[$1] = workers(for: .entries(by: $1)) }
  }
  /// The workers that list the messages of mail stores.
  var mailWorkers: ConversionService? { workers(for: .letters) }

  func workers(for conversion: Conversion) -> ConversionService? {
    conversions.flatMap { $0.catalogue.conversion(conversion.verb) == nil ? nil : $0.renditions }
  }
}
