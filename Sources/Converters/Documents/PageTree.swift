internal import Bytes
internal import CQpdf
internal import Catalogue
internal import WorkerKit

/// The pages of a document by index.
///
/// A valid tree is descended by its `/Count`s, so that the first page of a long document is available without reading
/// the others. If anything in it is inconsistent, libqpdf walks and repairs the whole tree.
struct PageTree {
  /// A page, and the attributes it inherits.
  struct Page {
    let id: PDFObject.ID
    /// The index, from 0.
    let index: Int
    let text: ObjectText
    var inherited: [String: ObjectText] = [:]
  }

  fileprivate static let inheritable = ["/Resources", "/MediaBox", "/CropBox", "/Rotate"]

  private let file: PDFFile
  private let objects: ObjectCache
  /// The root of a valid tree and its number of pages. Nil if the whole tree has to be walked.
  private var claimed: (top: PDFObject.ID, count: Int)?
  /// All pages, if libqpdf cannot read the tree. Nil for a page that cannot be read.
  private var walked: [Page?]?
  /// Whether the pages that libqpdf counts have been compared with those of a damaged tree. Each page asks for their
  /// number.
  private var isCompared = false
  /// Whether no tree leads to the walked pages.
  private var areFound = false
  /// The index of the first page that libqpdf can read. Nil until determined.
  private var readable: Int?
  /// The recently visited inner nodes. The next page is mostly below the same ones.
  private var branches: [PDFObject.ID: Branch] = [:]

  /// Resources whose fonts and pictures have been read, and are there.
  private var present: Set<PDFObject.ID> = []

  /// An inner node of the tree.
  private struct Branch {
    let kids: [PDFObject.ID]
    /// The index of each kid's first page below the node, followed by the node's number of pages.
    let starts: [Int]
  }

  init(_ file: PDFFile, _ objects: ObjectCache) {
    self.file = file
    self.objects = objects
    guard !file.isDamaged, !file.isRecovered, let top = file.root["/Pages"]?.id else { return }
    let text = objects.object(top).text
    if let count = count(below: top, text), branch(top, text, count: count) != nil { claimed = (top, count) }
  }

  /// Whether any page is found.
  var hasPages: Bool {
    mutating get { (try? count()) ?? 0 > 0 }
  }

  /// Returns the number of pages. Reads every page only if necessary.
  mutating func count() throws(JobFailure) -> Int {
    if let claimed { return claimed.count }
    if let walked { return walked.count }
    let count = file.isRecovered ? 0 : unsafe qpdf_get_num_pages(file.pdf)
    if count > 0, hasReadablePage(among: Int(count)) {
      // Since version 12, libqpdf leaves out a kid that is not there.
      if !file.isDamaged || isCompared { return Int(count) }
      isCompared = true
      let pages = walk()
      guard pages.count > Int(count), pages.contains(where: { $0 != nil }) else { return Int(count) }
      walked = pages
      return pages.count
    }
    do throws(JobFailure) { try file.checkErrors() } catch {
      guard error.failure == .damaged else { throw error }
    }
    var pages = walk()
    if !pages.contains(where: { $0 != nil }) { (pages, areFound) = (found(), true) }
    guard !pages.isEmpty else { throw JobFailure(.damaged, "has no pages") }
    walked = pages
    return pages.count
  }

  /// Returns whether any of the pages that libqpdf counts is a page. In a damaged tree, it also counts other objects.
  private mutating func hasReadablePage(among count: Int) -> Bool {
    guard readable == nil else { return true }
    readable = (0..<count).first { index in
      defer { file.forgetErrors() }
      return unsafe file.object(qpdf_get_page_n(file.pdf, index)).isDictionary
    }
    return readable != nil
  }

  /// Returns a remark on pages that are missing or cannot be read, as the end of a sentence. Empty if there are none.
  /// Looks at every page of a damaged document, up to a limit.
  mutating func remark() throws(JobFailure) -> String {
    let count = try count()
    guard isDamaged || walked != nil else { return "" }
    var pages = UnreadablePages()
    for index in 0..<min(count, Self.mostExamined) {
      let found = try pages.read(index) { () throws(JobFailure) -> Page? in try self.page(at: index) } ?? nil
      if let found, lacksParts(found) { pages.noteIncomplete(index) }
      file.forgetErrors()
    }
    let remark = try pages.remark()
    return areFound
      ? JobAnswer.loss("is damaged: its list of pages is lost, and only the pages that were found are shown") : remark
  }

  private static let mostExamined = 10_000

  /// Returns the page at an index from 0. Returns `nil` if there is none. Throws if a damaged document has lost it, or its
  /// contents.
  mutating func page(at index: Int) throws(JobFailure) -> Page? {
    let page = try listedPage(at: index)
    if let page, isDamaged { try checkContents(of: page) }
    return page
  }

  /// Throws if a damaged document has lost the contents of a page. Reads them, so that libqpdf finds their damage.
  func checkContents(of page: Page) throws(JobFailure) {
    let parts = contents(of: page)
    guard isDamaged else { return }
    guard parts.isEmpty || parts.contains(where: { $0?.isStream ?? false }), !hasLost("/Resources", page) else {
      throw JobFailure(.damaged, "has lost the contents of page \(page.index + 1)")
    }
  }

  /// Whether objects that the document refers to may be lost. In a sound document they were never there.
  var isDamaged: Bool { file.hasBeenDamaged || file.isRecovered }

  /// Returns the streams of a page's contents. Those that are lost are `nil`.
  func contents(of page: Page) -> [PDFObject?] {
    guard page.text.hasValue(for: "/Contents") else { return [] }
    guard let contents = file.object(page.id)["/Contents"] else { return [nil] }
    return contents.isArray ? contents.items.map { $0.isNull ? nil : $0 } : [contents]
  }

  private func hasLost(_ key: String, _ page: Page) -> Bool {
    page.text.hasValue(for: key) && file.object(page.id)[key] == nil
  }

  /// Returns whether a damaged document has lost parts of a page's contents, or fonts or pictures in them. Reads these.
  mutating func lacksParts(_ page: Page) -> Bool {
    let contents = contents(of: page)
    let resources = file.object(page.id).inherited("/Resources")
    let isLost = resources.map { hasLostObjects($0) } ?? false
    guard isDamaged else { return false }
    if isLost || contents.contains(where: { $0 == nil }) { return true }
    guard let resources else {
      // Inherited resources are lost with the node above the page.
      let isOrphan = page.text.reference(for: "/Parent").map { !objects.object($0).text.isDictionary } ?? false
      return isOrphan && !contents.isEmpty
    }
    // A blank page has nothing to show.
    if contents.isEmpty { return ["/Font", "/XObject"].contains { resources[$0] != nil } }
    // libqpdf leaves out the reference to an object that is not there.
    return contents.contains { part in part?.decodedData.map { Self.lacksResources($0, resources) } ?? false }
  }

  /// Returns whether a font or picture that a content stream names is not there.
  private static func lacksResources(_ content: [UInt8], _ resources: PDFObject) -> Bool {
    let (fonts, pictures) = (resources["/Font"], resources["/XObject"])
    var scanner = ContentScanner(content)
    while let step = scanner.next() {
      switch step {
      case .font(let name): if fonts?[name] == nil { return true }
      case .paint(let name): if pictures?[name] == nil { return true }
      case .save, .restore, .transform, .state: break
      }
    }
    return false
  }

  /// Returns whether resources list a font or picture that is not there. All pages can share the same.
  private mutating func hasLostObjects(_ resources: PDFObject) -> Bool {
    if let id = resources.id, present.contains(id) { return false }
    for kind in ["/Font", "/XObject"] {
      guard let list = resources[kind], list.id.map({ !present.contains($0) }) ?? true else { continue }
      if ObjectText(list.ownText).references.contains(where: { file.object($0.id).isNull }) { return true }
      if let id = list.id { present.insert(id) }
    }
    if let id = resources.id { present.insert(id) }
    return false
  }

  /// Returns the page at an index from 0, whether or not its contents are lost. Returns `nil` if there is none.
  mutating func listedPage(at index: Int) throws(JobFailure) -> Page? {
    if let claimed {
      if index >= claimed.count { return nil }
      if let page = descend(to: index) { return page }
      self.claimed = nil
    }
    guard try index < count() else { return nil }
    if let walked {
      guard let page = walked[index] else { throw JobFailure(.damaged, "has no readable page \(index + 1)") }
      return page
    }
    let object = unsafe file.object(qpdf_get_page_n(file.pdf, index))
    try file.checkErrors()
    guard let id = object.id else { throw JobFailure(.damaged, "has no readable page \(index + 1)") }
    let known = objects.object(id).text
    // libqpdf treats some objects as pages that are not.
    var page = Page(id: id, index: index, text: known.isDictionary ? known : ObjectText(object.ownText))
    guard page.text.isDictionary else { throw JobFailure(.damaged, "has no readable page \(index + 1)") }
    for key in PageTree.inheritable where !page.text.hasValue(for: key) {
      if let value = object.inherited(key) { page.inherited[key] = ObjectText(value.text) }
    }
    return page
  }

  /// Returns all leaves of the tree, once each, even if it has loops. As in other readers, a missing node counts as a
  /// page that cannot be read.
  private func walk() -> [Page?] {
    var pages: [Page?] = []
    guard let top = file.root["/Pages"]?.id else { return [] }
    var seen: Set<PDFObject.ID> = []
    var waiting: [(id: PDFObject.ID, above: [ObjectText])] = [(top, [])]
    while let (id, above) = waiting.popLast(), pages.count < PageTree.mostWalked {
      guard seen.insert(id).inserted else { continue }
      let object = objects.object(id)
      let text = object.text
      guard text.isDictionary, object.kind != .stream, above.count < PageTree.deepest else {
        pages.append(nil)
        continue
      }
      guard let value = text.value(of: "/Kids") else {
        if !text.has("/Pages", for: "/Type") { pages.append(page(id, text, index: pages.count, above.reversed())) }
        continue
      }
      let path = above + [text]
      waiting += objects.resolved(value).references.reversed().map { ($0.id, path) }
    }
    return pages
  }

  /// Returns the pages that recovery found. For a document whose tree leads to no page.
  private func found() -> [Page] {
    var pages: [Page] = []
    for id in file.foundPages.prefix(PageTree.mostWalked) {
      let text = objects.object(id).text
      guard text.has("/Page", for: "/Type") else { continue }
      var above: [ObjectText] = []
      var seen: Set<PDFObject.ID> = [id]
      var next = text.reference(for: "/Parent")
      while let parent = next, seen.insert(parent).inserted, above.count < PageTree.highest {
        let node = objects.object(parent).text
        above.append(node)
        next = node.reference(for: "/Parent")
      }
      pages.append(page(id, text, index: pages.count, above))
    }
    return pages
  }

  /// - Parameter above: the page's ancestors, the nearest first.
  private func page(_ id: PDFObject.ID, _ text: ObjectText, index: Int, _ above: some Sequence<ObjectText>) -> Page {
    var page = Page(id: id, index: index, text: text)
    for node in above { page.inherit(from: node) }
    return page
  }

  private static let mostWalked = 1 << 20
  private static let deepest = 1000
  /// The maximum number of ancestors of a page that is not in a tree.
  private static let highest = 64

  /// Returns the number of pages that a node claims to have. Returns 1 for a page.
  private func count(below node: PDFObject.ID, _ text: ObjectText) -> Int? {
    guard objects.object(node).kind != .stream, text.isDictionary else { return nil }
    guard text.value(of: "/Kids") != nil else { return text.has("/Pages", for: "/Type") ? nil : 1 }
    return text.integer(for: "/Count").flatMap { $0 > 0 ? $0 : nil }
  }

  /// Returns the kids of a node. Returns `nil` if its array contains anything else.
  private func kids(of node: ObjectText) -> [PDFObject.ID]? {
    guard let value = node.value(of: "/Kids") else { return nil }
    let array = value.first == 0x5B ? nil : objects.resolved(value)
    let items = array?.bytes[...] ?? value
    guard items.first == 0x5B, !items.contains(0x3C) else { return nil }
    return (array ?? node).references.filter { items.indices.contains($0.range.lowerBound) }.map(\.id)
  }

  /// Returns a node whose kids have as many pages as it claims. Returns `nil` if the numbers differ. If it has as many
  /// kids as pages, only the first and the last kid are checked.
  private mutating func branch(_ id: PDFObject.ID, _ node: ObjectText, count: Int) -> Branch? {
    if let known = branches[id], known.starts.last == count { return known }
    guard let kids = kids(of: node), kids.count > 0, kids.count <= count else { return nil }
    var starts = Array(0...kids.count)
    if kids.count == count {
      guard [kids[0], kids[count - 1]].allSatisfy({ self.count(below: $0, objects.object($0).text) == 1 }) else {
        return nil
      }
    } else {
      for (place, kid) in kids.enumerated() {
        guard let pages = self.count(below: kid, objects.object(kid).text), pages <= count - starts[place] else {
          return nil
        }
        starts[place + 1] = starts[place] + pages
      }
      guard starts[kids.count] == count else { return nil }
    }
    let branch = Branch(kids: kids, starts: starts)
    if branches.count >= PageTree.mostBranches { branches = [:] }
    branches[id] = branch
    return branch
  }

  private static let mostBranches = 64

  /// Returns the page at an index. Returns `nil` if the tree is inconsistent.
  private mutating func descend(to page: Int) -> Page? {
    guard var (id, count) = claimed else { return nil }
    var index = page
    var path: [ObjectText] = []
    var node = objects.object(id).text
    while node.value(of: "/Kids") != nil {
      guard path.count < PageTree.deepest, let branch = branch(id, node, count: count),
        case let place = branch.starts.partitionIndex(where: { $0 <= index }), branch.kids.indices.contains(place - 1)
      else { return nil }
      path.append(node)
      id = branch.kids[place - 1]
      index -= branch.starts[place - 1]
      count = branch.starts[place] - branch.starts[place - 1]
      node = objects.object(id).text
      guard self.count(below: id, node) == count else { return nil }
    }
    return self.page(id, node, index: page, path.reversed())
  }
}

extension PageTree.Page {
  /// Adds the attributes that neither the page nor a nearer node has.
  fileprivate mutating func inherit(from node: ObjectText) {
    for key in PageTree.inheritable where !text.hasValue(for: key) && inherited[key] == nil {
      if node.hasValue(for: key) { inherited[key] = node.value(of: key).map { ObjectText(Array($0)) } }
    }
  }
}
