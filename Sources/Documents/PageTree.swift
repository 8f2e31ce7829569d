internal import CQpdf
internal import Conversion
internal import JobFiles

/// The pages of a document by their number.
///
/// A sound tree is descended by its `/Count`s, so that the first page of a long document is there before the others have
/// been looked at. Once anything in it disagrees, libqpdf walks and mends the whole tree.
struct PageTree {
  /// A page, and what it has from the nodes above it.
  struct Page {
    let object: PDFObject
    var inherited: [String: PDFObject] = [:]
  }

  fileprivate static let inheritable = ["/Resources", "/MediaBox", "/CropBox", "/Rotate"]

  private let file: PDFFile
  /// nil: the whole tree has to be walked.
  private var claimed: Int?

  init(_ file: PDFFile) {
    self.file = file
    if !file.isDamaged, let top = file.root["/Pages"], let count = Self.count(below: top),
      Self.isPlausible(top, count: count)
    {
      claimed = count
    }
  }

  /// Looks at every page only when there is reason to.
  mutating func count() throws(JobFailure) -> Int {
    if let claimed { return claimed }
    let count = unsafe qpdf_get_num_pages(file.pdf)
    try file.checkErrors()
    guard count > 0 else { throw JobFailure(.damaged, "has no pages") }
    return Int(count)
  }

  /// nil: there is no such page. From 0.
  mutating func page(at index: Int) throws(JobFailure) -> Page? {
    if let claimed {
      if index >= claimed { return nil }
      if let page = descend(to: index) { return page }
      self.claimed = nil
    }
    guard try index < count() else { return nil }
    var page = Page(object: unsafe file.object(qpdf_get_page_n(file.pdf, index)))
    try file.checkErrors()
    // A tree that libqpdf has walked has no loops.
    var node = page.object["/Parent"]
    while let above = node {
      page.inherit(from: above)
      node = above["/Parent"]
    }
    return page
  }

  /// How many pages a node says that it has; a page is one.
  private static func count(below node: PDFObject) -> Int? {
    guard node.isDictionary else { return nil }
    guard node["/Kids"] != nil else { return node["/Type"]?.name == "/Pages" ? nil : 1 }
    return node["/Count"]?.integer.flatMap { $0 > 0 ? $0 : nil }
  }

  /// Whether the kids of a node can have as many pages as it says, without a look at each of many.
  private static func isPlausible(_ node: PDFObject, count: Int) -> Bool {
    guard let kids = node["/Kids"], kids.count > 0, kids.count <= count else { return false }
    if kids.count == count {
      return [0, count - 1].allSatisfy { kids[$0].id != nil && Self.count(below: kids[$0]) == 1 }
    }
    var rest = count
    for kid in kids.items {
      guard kid.id != nil, let pages = Self.count(below: kid), pages <= rest else { return false }
      rest -= pages
    }
    return rest == 0
  }

  /// nil where the tree is not what it says.
  private func descend(to index: Int) -> Page? {
    guard var node = file.root["/Pages"], var count = claimed else { return nil }
    var index = index
    var path: [PDFObject] = []
    while let kids = node["/Kids"] {
      guard path.count < 1000, Self.isPlausible(node, count: count) else { return nil }
      path.append(node)
      var kid = 0
      count = 1
      if kids.count == node["/Count"]?.integer {
        kid = index
        index = 0
      } else {
        while true {
          guard kid < kids.count, let pages = Self.count(below: kids[kid]) else { return nil }
          count = pages
          if index < pages { break }
          index -= pages
          kid += 1
        }
      }
      node = kids[kid]
      guard node.id != nil, Self.count(below: node) == count else { return nil }
    }
    var page = Page(object: node)
    for above in path.reversed() { page.inherit(from: above) }
    return page
  }
}

extension PageTree.Page {
  /// Takes what neither the page nor a node nearer to it has.
  fileprivate mutating func inherit(from node: PDFObject) {
    for key in PageTree.inheritable where object[key] == nil && inherited[key] == nil { inherited[key] = node[key] }
  }
}
