internal import Catalogue
public import WorkerKit

/// Merges the pages of several files into one document, each with an outline entry that has the file's own outline
/// below it.
///
/// Pages are copied, byte for byte where they are streams. Form fields and named destinations of different files stay
/// separate, even if their names are equal: fields get a parent field per file, destinations a number before their
/// names. Attached files stay attached, and pages keep their labels. A file that cannot be read is replaced by a page
/// that says so.
public final class MergedDocument {
  private let writer: PDFWriter
  private let catalog: Int
  private let tree: Int
  /// The page tree node of each file, and its number of pages.
  private var nodes: [(number: Int, count: Int)] = []
  private var outline: [(number: Int, title: String, page: Int, kids: PageCopy.Outline?)] = []
  private var parts: [PageCopy.Part] = []
  /// Page labels, and whether any file has some.
  private var labels: [UInt8] = []
  private var hasLabels = false
  /// The output intents of the first file, in the merged document, and the digest of each file's.
  private var intents: [UInt8] = []
  private var digests: [UInt64?] = []
  /// The files replaced by a notice, with the reasons.
  public private(set) var unreadable: [(name: String, failure: JobFailure)] = []

  /// The files that lack damaged pages, and the number of these pages.
  public private(set) var lacking: [(name: String, pages: Int)] = []

  /// Whether every file has been replaced by a notice.
  public var isUnreadable: Bool { unreadable.count == nodes.count && !nodes.isEmpty }

  private var pageCount: Int { nodes.reduce(0) { $0 + $1.count } }

  /// - Parameter protection: the protection of the files.
  public init(to output: JobOutput, _ protection: CommonProtection = CommonProtection()) {
    writer = PDFWriter(to: output, version: protection.version, protection.strictest)
    catalog = writer.reserve()
    tree = writer.reserve()
  }

  /// Adds a file by calling `body`. If the file cannot be read, adds a page that says so instead.
  public func addFile(named name: String, _ body: () throws(JobFailure) -> Void) throws(JobFailure) {
    let mark = writer.mark
    do throws(JobFailure) { try body() } catch {
      guard error.concernsInput else { throw error.about(name) }
      try writer.restore(mark)
      unreadable.append((name, error))
      let (node, entry) = (writer.reserve(), writer.reserve())
      let page = try NoticePage(title: name, text: "This file \(error.reason).").write(to: writer, below: node)
      labels += PageLabels.plain(at: pageCount)
      try finish(node, [page], entry, name)
    }
  }

  /// Adds all pages of a PDF.
  ///
  /// - Parameter passwords: candidates for opening it.
  public func add(_ input: JobInput, _ passwords: [[UInt8]], named name: String) throws(JobFailure) {
    let document = try PagedDocument(input, passwords)
    let (node, entry) = (writer.reserve(), writer.reserve())
    let part = try document.copyAll(to: writer, below: node, entry, member: nodes.count + 1)
    if !document.unreadable.isEmpty { lacking.append((name, document.unreadable.count)) }
    let first = pageCount
    try finish(node, part.pages, entry, name, part.outline, part.intents)
    if let own = part.labels {
      hasLabels = true
      labels += own.entries(for: Array(part.pages.indices), from: first)
    } else {
      labels += PageLabels.plain(at: first)
    }
    parts.append(part)
  }

  /// Adds the pages that `body` writes, as those of one file.
  public func add(
    named name: String, _ body: (PicturePages) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let (node, entry) = (writer.reserve(), writer.reserve())
    let pages = try PicturePages(to: writer, below: node)
    try body(pages)
    let first = pageCount
    try finish(node, pages.numbers, entry, name)
    labels += PageLabels.plain(at: first)
  }

  private func finish(
    _ node: Int, _ pages: [Int], _ entry: Int, _ name: String, _ kids: PageCopy.Outline? = nil,
    _ intents: PageCopy.Part.Intents? = nil
  ) throws(JobFailure) {
    let list = pages.map { "\($0) 0 R" }.joined(separator: " ")
    try writer.write(
      node, Array("<< /Type /Pages /Parent \(tree) 0 R /Count \(pages.count) /Kids [ \(list) ] >>".utf8))
    if nodes.isEmpty { self.intents = intents?.text ?? [] }
    digests.append(intents?.digest)
    nodes.append((node, pages.count))
    if let first = pages.first { outline.append((entry, name, first, kids)) }
  }

  /// Writes the catalog and everything else document-wide.
  public func finish() throws(JobFailure) {
    let kids = nodes.map { "\($0.number) 0 R" }.joined(separator: " ")
    try writer.write(tree, Array("<< /Type /Pages /Count \(pageCount) /Kids [ \(kids) ] >>".utf8))
    var root = Array("<< /Type /Catalog /Pages \(tree) 0 R".utf8)
    root += try " /PageMode /UseOutlines /Outlines \(writeOutline()) 0 R".utf8
    if hasLabels { root += Array(" /PageLabels << /Nums [ ".utf8) + labels + Array("] >>".utf8) }
    // If the files have different intents, one file's would change the appearance of the others.
    if let first = digests.first ?? nil, digests.allSatisfy({ $0 == first }) {
      root += Array(" /OutputIntents ".utf8) + intents
    }
    root += form()
    root += layers()
    root += nameTrees()
    let names = parts.flatMap(\.names)
    if !names.isEmpty { root += Array(" /Dests << ".utf8) + names + Array(">>".utf8) }
    try writer.write(catalog, root + Array(" >>".utf8))
    try writer.finish(catalog: catalog)
  }

  private func nameTrees() -> [UInt8] {
    let trees = [("/Dests", parts.flatMap(\.strings)), ("/EmbeddedFiles", attachments())]
      .filter { !$0.1.isEmpty }
    if trees.isEmpty { return [] }
    return Array(" /Names <<".utf8)
      + trees.flatMap { Array(" \($0.0) << /Names [ ".utf8) + $0.1 + Array("] >>".utf8) } + Array(" >>".utf8)
  }

  /// Returns the attachments in the order of their names. If two files have attachments of the same name, the later one
  /// gets its file's number.
  private func attachments() -> [UInt8] {
    var files: [[UInt8]: [UInt8]] = [:]
    for (index, part) in parts.enumerated() {
      for (name, file) in part.attachments {
        var free = name
        var number = index
        while files[free] != nil {
          number += 1
          free = name + Array(" (\(number))".utf8)
        }
        files[free] = file
      }
    }
    return files.sorted { $0.key.lexicographicallyPrecedes($1.key) }
      .flatMap { ObjectText.hexadecimal($0.key) + [0x20] + $0.value + [0x20] }
  }

  private func writeOutline() throws(JobFailure) -> Int {
    let top = writer.reserve()
    for (index, entry) in outline.enumerated() {
      var text =
        "<< /Title \(Self.string(entry.title)) /Parent \(top) 0 R /Dest [ \(entry.page) 0 R /XYZ null null null ]"
      if index > 0 { text += " /Prev \(outline[index - 1].number) 0 R" }
      if index + 1 < outline.count { text += " /Next \(outline[index + 1].number) 0 R" }
      if let kids = entry.kids { text += " /First \(kids.first) 0 R /Last \(kids.last) 0 R /Count -\(kids.count)" }
      try writer.write(entry.number, Array("\(text) >>".utf8))
    }
    var text = "<< /Type /Outlines /Count \(outline.count)"
    if let first = outline.first, let last = outline.last {
      text += " /First \(first.number) 0 R /Last \(last.number) 0 R"
    }
    try writer.write(top, Array("\(text) >>".utf8))
    return top
  }

  /// Returns a text in UTF-16, as hexadecimal digits.
  private static func string(_ text: String) -> String {
    let digits = text.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "<feff\(digits.joined())>"
  }

  private func form() -> [UInt8] {
    let forms = parts.compactMap(\.form)
    if forms.isEmpty { return [] }
    var text = Array(" /AcroForm << /Fields [ \(forms.map { "\($0.field) 0 R" }.joined(separator: " ")) ]".utf8)
    if forms.contains(where: \.needsAppearances) { text += " /NeedAppearances true".utf8 }
    // Fonts for filling in forms; fields with values already have appearances.
    var resources = FormResources()
    for form in forms { resources.add(form.resources) }
    if !resources.isEmpty { text += Array(" /DR ".utf8) + resources.text }
    return text + Array(" >>".utf8)
  }

  private func layers() -> [UInt8] {
    let all = parts.flatMap(\.layers)
    if all.isEmpty { return [] }
    let hidden = parts.flatMap(\.hiddenLayers)
    return Array(" /OCProperties << /OCGs [ ".utf8) + all + Array("] /D << /Order [ ".utf8) + all
      + Array("] /OFF [ ".utf8) + hidden + Array("] >> >>".utf8)
  }
}
