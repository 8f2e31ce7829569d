internal import Catalogue
internal import WorkerKit

/// A reader of Word documents: DOCX, DOCM, DOTX (ECMA-376, part 1, 17). Tracked changes count as accepted. Omits hidden
/// text, headers and footers.
final class WordDocument {
  let package: OfficePackage
  private let main: String
  let styles: WordStyles
  var lists: WordLists
  /// The notes by their kinds and numbers.
  private var notes: [String: [TextBlock]] = [:]

  init(_ package: OfficePackage, main: String) throws(JobFailure) {
    self.package = package
    self.main = main
    let parts = try package.relationships(of: main).values.filter { !$0.isOutside }
    func reader(_ kind: String) throws(JobFailure) -> MarkupReader? {
      guard let part = parts.first(where: { $0.kind == kind }) else { return nil }
      return try package.reader(part.target)
    }
    styles = try reader("styles").map { (reader) throws(JobFailure) in try WordStyles(reader) } ?? WordStyles()
    lists = try reader("numbering").map { (reader) throws(JobFailure) in try WordLists(reader) } ?? WordLists()
    for kind in ["footnotes", "endnotes", "comments"] {
      guard let part = parts.first(where: { $0.kind == kind }) else { continue }
      try readNotes(kind, part.target)
    }
  }

  func read(into taker: any BlockTaker) throws(JobFailure) {
    guard let reader = try package.reader(main) else { throw JobFailure(.damaged, "has no text part") }
    try WordDocumentReader(self, reader, links: package.relationships(of: main)).read(into: taker)
  }

  private func readNotes(_ kind: String, _ path: String) throws(JobFailure) {
    guard let reader = try package.reader(path) else { return }
    let text = WordDocumentReader(self, reader, links: try package.relationships(of: path))
    while let event = try reader.next() {
      guard case .start(let element) = event, ["w:footnote", "w:endnote", "w:comment"].contains(element.name) else {
        continue
      }
      // Notes of other types are the separators above notes.
      guard element["w:type"] == nil || element["w:type"] == "normal", let id = element["w:id"] else {
        try reader.skip()
        continue
      }
      let list = BlockList()
      if let author = element["w:author"], !author.isEmpty { list.add(.paragraph([Run(.text("\(author):"))])) }
      try text.readBlocks(into: list)
      notes["\(kind) \(id)"] = list.blocks
    }
  }

  /// Removes and returns a note, which is written only once.
  func takeNote(_ kind: String, _ id: String) -> [TextBlock]? { notes.removeValue(forKey: "\(kind) \(id)") }
}
