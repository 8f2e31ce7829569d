internal import CQpdf
internal import Catalogue
internal import WorkerKit

/// An open PDF whose pages can be counted and copied; the cost of opening is shared by all of them.
final class PagedDocument {
  private let file: PDFFile
  private var tree: PageTree
  private let objects: ObjectCache
  private let places: NamedPlaces
  /// The top-level fields of the form.
  private let form: Set<PDFObject.ID>
  private lazy var labels = PageLabels(file.root, objects)
  private lazy var structure = DocumentStructure(file.root, objects)

  /// - Parameter passwords: candidates for opening the document.
  init(_ input: JobInput, _ passwords: [[UInt8]] = []) throws(JobFailure) {
    file = try PDFFile(reading: input, passwords)
    objects = ObjectCache(of: file)
    tree = PageTree(file, objects)
    places = NamedPlaces(file.root, objects)
    form = Set((file.root["/AcroForm"]?["/Fields"]?.items ?? []).compactMap(\.id))
    file.releaseObjects()
  }

  /// The number of pages; reads every page only if necessary.
  func countPages() throws(JobFailure) -> Int {
    defer { file.releaseObjects() }
    return try tree.count()
  }

  /// Writes a document of these pages: the same input gives the same bytes.
  func write(_ selection: PageSelection, to output: JobOutput) throws(JobFailure) {
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
    // A structure may have to be packed.
    let version = structure == nil ? file.version : PackedWriter.version(file.version)
    let writer = try PDFWriter(to: output, version: version, file.protection.get())
    let (catalog, top) = (writer.reserve(), writer.reserve())
    var copy = PageCopy(from: file, objects: objects, places: places, to: writer, below: top, member: nil)
    try copy.write(pages, form: form, labels, structure, catalog: catalog)
    file.forgetErrors()
  }

  /// Writes all pages into a merged document, as its file number `member`, with an entry in its outline.
  func copyAll(
    to writer: PDFWriter, below node: Int, _ entry: Int, member: Int
  ) throws(JobFailure) -> PageCopy.Part {
    defer { file.releaseObjects() }
    var pages: [PageTree.Page] = []
    for index in 0..<(try tree.count()) {
      guard let page = try tree.page(at: index) else { throw JobFailure(.damaged, "has no readable page \(index + 1)") }
      pages.append(page)
    }
    var copy = PageCopy(from: file, objects: objects, places: places, to: writer, below: node, member: member)
    let part = try copy.add(pages, form: form, labels, below: entry)
    file.forgetErrors()
    return part
  }

  private func absent(_ number: Int) throws(JobFailure) -> JobFailure {
    try JobFailure(.absent, "has no page \(number), but \(tree.count())")
  }
}
