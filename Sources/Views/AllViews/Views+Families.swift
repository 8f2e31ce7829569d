internal import ArchiveViews
public import Bytes
internal import Files
public import Index
internal import MailViews
public import RenditionViews
internal import TableViews
internal import Tables
public import Threads
public import Tree
public import Zip

extension Views {
  /// The one place where views are registered: here and in `types`.
  ///
  /// `index` keeps what is dear to find out; nil: nothing outlives the mount. What can only be decoded front to back is kept in
  /// files without names in the folder `spools`, if it is given. Without `conversions`, nothing is converted. `memory` is for
  /// all that is kept in memory because it is dear to make.
  public init(
    listing: ViewListing = ViewListing(), depth: Int = 4, decoded cache: Int = 16 << 20, index: Index? = nil,
    zip: ZipOptions = ZipOptions(), spools: String? = nil, conversions: Conversions? = nil,
    memory: MemoryBudget = MemoryBudget()
  ) {
    var zip = zip
    if let spools { zip.spool = { try? TemporaryFile(in: spools) } }
    let mailboxes = Mailboxes(index: index, memory)
    let messages = MessagesView(listing: listing, mailboxes)
    let known = conversions?.known ?? KnownValues(index: index)
    let tables = RewrittenText.Memory(capacity: Self.tableMemory, memory)
    let converting: [any View] =
      conversions.map {
        [
          PagesView(listing: listing, $0), CompressedView(listing: listing, $0), RenditionView(listing: listing, $0),
          MergedView($0),
        ]
      } ?? []
    self.init(
      [
        ContentsView(listing: listing, decodedCache: cache, index: index, zip, memory),
        messages, MailboxViewsView(besides: messages, mailboxes),
        MessageView(listing: listing, mailboxes.messages),
        TableView(.html, known, tables),
        TableView(.text, known, tables),
      ] + converting, depth: depth)
  }

  /// For what was made of tables last, in bytes.
  private static let tableMemory = 8 << 20

  package static let types: [any View.Type] = [
    ContentsView.self, MessagesView.self, MailboxViewsView.self, MessageView.self, TableView.self, PagesView.self,
    CompressedView.self, RenditionView.self, MergedView.self,
  ]

  /// The extensions of files that some view can be listed beside: what `-o views=` may name.
  public static let possibleExtensions: Set<FileExtension> =
    types.reduce(into: []) { $0.formUnion($1.possibleExtensions) }

  /// What there is, in the order in which it is looked for.
  public static var descriptions: [ViewDescription] { types.flatMap { $0.descriptions } }
}
