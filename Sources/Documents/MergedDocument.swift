public import JobFiles

/// A document of the pages of several files, each with an entry of the outline.
///
/// Pages are those of the files, byte for byte where they are streams. Form fields and named places of different files stay
/// apart, whatever their names: fields get one above them for their file, places a number before their names.
public final class MergedDocument {
  private let writer: PDFWriter
  private let catalog: Int
  private let tree: Int
  /// A node of the page tree for each file, and how many pages it has.
  private var nodes: [(number: Int, count: Int)] = []
  private var outline: [(title: String, page: Int)] = []
  private var parts: [PageCopy.Part] = []

  public init(to output: JobOutput) {
    writer = PDFWriter(to: output, version: "1.7")
    catalog = writer.reserve()
    tree = writer.reserve()
  }

  /// Adds all pages of a PDF.
  public func add(_ input: JobInput, named name: String) throws(JobFailure) {
    let document = try PagedDocument(input)
    let node = writer.reserve()
    let part = try document.copyAll(to: writer, below: node, member: nodes.count + 1)
    try finish(node, part.pages, name)
    parts.append(part)
  }

  /// Adds the pages that `body` does, as those of one file.
  public func add(
    named name: String, _ body: (PicturePages) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let node = writer.reserve()
    let pages = PicturePages(to: writer, below: node)
    try body(pages)
    try finish(node, pages.numbers, name)
  }

  private func finish(_ node: Int, _ pages: [Int], _ name: String) throws(JobFailure) {
    let kids = pages.map { "\($0) 0 R" }.joined(separator: " ")
    try writer.write(
      node, Array("<< /Type /Pages /Parent \(tree) 0 R /Count \(pages.count) /Kids [ \(kids) ] >>".utf8))
    nodes.append((node, pages.count))
    if let first = pages.first { outline.append((name, first)) }
  }

  /// Writes what the document has as a whole.
  public func finish() throws(JobFailure) {
    let count = nodes.reduce(0) { $0 + $1.count }
    let kids = nodes.map { "\($0.number) 0 R" }.joined(separator: " ")
    try writer.write(tree, Array("<< /Type /Pages /Count \(count) /Kids [ \(kids) ] >>".utf8))
    var root = Array("<< /Type /Catalog /Pages \(tree) 0 R".utf8)
    root += try " /PageMode /UseOutlines /Outlines \(writeOutline()) 0 R".utf8
    root += form()
    root += layers()
    let strings = parts.flatMap(\.strings)
    if !strings.isEmpty { root += Array(" /Names << /Dests << /Names [ ".utf8) + strings + Array("] >> >>".utf8) }
    let names = parts.flatMap(\.names)
    if !names.isEmpty { root += Array(" /Dests << ".utf8) + names + Array(">>".utf8) }
    try writer.write(catalog, root + Array(" >>".utf8))
    try writer.finish(catalog: catalog)
  }

  private func writeOutline() throws(JobFailure) -> Int {
    let top = writer.reserve()
    let numbers = outline.map { _ in writer.reserve() }
    for (index, entry) in outline.enumerated() {
      var text =
        "<< /Title \(Self.string(entry.title)) /Parent \(top) 0 R /Dest [ \(entry.page) 0 R /XYZ null null null ]"
      if index > 0 { text += " /Prev \(numbers[index - 1]) 0 R" }
      if index + 1 < numbers.count { text += " /Next \(numbers[index + 1]) 0 R" }
      try writer.write(numbers[index], Array("\(text) >>".utf8))
    }
    var text = "<< /Type /Outlines /Count \(numbers.count)"
    if let first = numbers.first, let last = numbers.last { text += " /First \(first) 0 R /Last \(last) 0 R" }
    try writer.write(top, Array("\(text) >>".utf8))
    return top
  }

  /// In UTF-16, as hexadecimal digits.
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
    // Fonts for filling in; what is filled in has its looks already.
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
