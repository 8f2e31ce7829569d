internal import CQpdf
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An open PDF whose pages can be counted and copied. All operations share the cost of opening it.
final class PagedDocument {
  private let file: PDFFile
  private var tree: PageTree
  private let objects: ObjectCache
  private let places: NamedPlaces
  /// The top-level fields of the form.
  private let form: Set<PDFObject.ID>
  /// The indices of the damaged pages that are missing from the last copy of all pages, in ascending order.
  private(set) var unreadable: [Int] = []
  private lazy var labels = PageLabels(file.root, objects)
  private lazy var structure = DocumentStructure(file.root, objects)
  /// Whether no object stream is damaged. Otherwise any page may lack something.
  private lazy var areObjectsIntact = ObjectStreams(of: file).areIntact()
  private lazy var conformance = Conformance(of: file.root)

  /// - Parameter passwords: candidates for opening the document.
  init(_ input: JobInput, _ passwords: [[UInt8]] = []) throws(JobFailure) {
    var file = try PDFFile(reading: input, passwords)
    var objects = ObjectCache(of: file)
    var tree = PageTree(file, objects)
    // Cross-references may be well formed and yet lead to no page.
    if !tree.hasPages, !file.isRecovered, let recovered = try? PDFFile(recovering: input, passwords) {
      file = recovered
      objects = ObjectCache(of: file)
      tree = PageTree(file, objects)
    }
    (self.file, self.objects, self.tree) = (file, objects, tree)
    places = NamedPlaces(file.root, objects)
    form = Set((file.root["/AcroForm"]?["/Fields"]?.items ?? []).compactMap(\.id))
    file.releaseObjects()
  }

  /// Returns the number of pages. Reads every page only if necessary.
  func countPages() throws(JobFailure) -> Int {
    defer { file.releaseObjects() }
    return try tree.count()
  }

  /// Returns a remark on pages that are missing or cannot be read, as the end of a sentence. Empty if there are none.
  func remark() throws(JobFailure) -> String {
    defer { file.releaseObjects() }
    return try tree.remark()
  }

  /// Returns whether all contents of a page can be decoded. Throws if they are lost. Returns true for a page that is none:
  /// another reader may count others.
  func isWhole(page index: Int) throws(JobFailure) -> Bool {
    defer { file.releaseObjects() }
    guard let page = (try? tree.listedPage(at: index)) ?? nil else { return true }
    try tree.checkContents(of: page)
    if tree.lacksParts(page) || !areObjectsIntact { return false }
    return tree.contents(of: page).allSatisfy { part in part?.isIntact ?? true }
  }

  /// Returns whether a page with text may draw it itself (`DrawnText`).
  func mayDrawText(onPage index: Int) throws(JobFailure) -> Bool {
    defer { file.releaseObjects() }
    return try tree.page(at: index).map(DrawnText(of: file).isPossible) ?? true
  }

  /// Writes a document of these pages. The same input gives the same bytes. Returns the indices of the pages that lack parts
  /// of their contents, fonts or pictures.
  func write(_ selection: PageSelection, to output: any DocumentSink) throws(JobFailure) -> [Int] {
    defer { file.releaseObjects() }
    var pages: [PageTree.Page] = []
    for run in selection.runs {
      let last = if let last = run.last { last } else { try tree.count() }
      guard run.last != nil || run.first <= last else { throw try absent(run.first) }
      for number in stride(from: run.first, through: last, by: run.first <= last ? 1 : -1) {
        guard let page = try tree.page(at: number - 1) else { throw try absent(number) }
        pages.append(page)
      }
    }
    try write(pages, to: output)
    // libqpdf has found the damage of what was copied.
    guard tree.isDamaged else { return [] }
    var incomplete: [Int] = []
    for page in pages {
      try tree.checkContents(of: page)
      if tree.lacksParts(page) { incomplete.append(page.index) }
    }
    return incomplete
  }

  /// Writes documents of single pages, one after the other: of page `first` and of up to `count` - 1 pages after it.
  /// Stops before a page that cannot be read or is large, and after one that takes long. Returns the documents' sizes.
  /// Throws if the first document cannot be written.
  func writeSeries(from first: Int, count: Int, to output: JobOutput) throws(JobFailure) -> [Int] {
    let start = (used: clock(), time: ContinuousClock.now)
    var (sizes, left) = ([Int](), Int(Job.largestSeries))
    for page in first..<first + count {
      let sink = MemorySink(limit: left, JobFailure(.limit, "has large pages"))
      let incomplete: [Int]
      do throws(JobFailure) { incomplete = try write(PageSelection(page: page), to: sink) } catch {
        if sizes.isEmpty { throw error }
        break
      }
      // Its remark needs a job of its own.
      if !incomplete.isEmpty {
        if sizes.isEmpty { throw JobFailure(.damaged, "lacks a part of page \(page)") }
        break
      }
      try unsafe output.write(sink.bytes.span.bytes)
      sizes.append(sink.bytes.count)
      left -= sink.bytes.count
      let hasTakenLong =
        clock() - start.used > Self.seriesTime.used || ContinuousClock.now - start.time > Self.seriesTime.byClock
      if hasTakenLong { break }
    }
    return sizes
  }

  /// The processor time in microseconds, and the time, after which a series ends. Its reader may wait for any of its
  /// pages.
  private static let seriesTime = (used: clock_t(10_000), byClock: Duration.milliseconds(100))

  /// Writes a document of all pages that can be read. `unreadable` has the others.
  func writeAll(to output: any DocumentSink) throws(JobFailure) {
    defer { file.releaseObjects() }
    try write(readablePages(), to: output)
  }

  /// Returns all pages that are not damaged. Throws if none is left.
  private func readablePages() throws(JobFailure) -> [PageTree.Page] {
    var pages: [PageTree.Page] = []
    unreadable = []
    for index in 0..<(try tree.count()) {
      do throws(JobFailure) {
        if let page = try tree.page(at: index) { pages.append(page) }
      } catch {
        guard error.failure == .damaged else { throw error }
        unreadable.append(index)
        file.forgetErrors()
      }
    }
    guard !pages.isEmpty else { throw JobFailure(.damaged, "has no readable pages") }
    return pages
  }

  private func write(_ pages: [PageTree.Page], to output: any DocumentSink) throws(JobFailure) {
    // A structure may have to be packed.
    let isPacked = structure != nil && conformance?.allowsPacking ?? true
    let version = isPacked ? PackedWriter.version(file.version) : file.version
    let writer = try PDFWriter(to: output, version: version, file.protection.get())
    let (catalog, top) = (writer.reserve(), writer.reserve())
    var copy = PageCopy(from: file, objects: objects, places: places, to: writer, below: top, member: nil)
    try copy.write(pages, form: form, labels, structure, conformance, catalog: catalog)
    file.forgetErrors()
  }

  /// Writes all pages that can be read into a merged document, as its file number `member`, with an entry in its outline.
  func copyAll(
    to writer: PDFWriter, below node: Int, _ entry: Int, member: Int
  ) throws(JobFailure) -> PageCopy.Part {
    defer { file.releaseObjects() }
    let pages = try readablePages()
    var copy = PageCopy(from: file, objects: objects, places: places, to: writer, below: node, member: member)
    let intents = OutputIntents(file.root)
    let part = try copy.add(pages, form: form, labels, intents, below: entry)
    file.forgetErrors()
    return part
  }

  private func absent(_ number: Int) throws(JobFailure) -> JobFailure {
    try JobFailure(.absent, "has no page \(number), but \(tree.count())")
  }
}
