internal import Catalogue
public import WorkerKit

/// Adds invisible text to the pages of a PDF that have only pictures of text. The additions follow the document's own
/// bytes, which stay unchanged.
public struct SearchableDocument {
  private let input: JobInput
  private let passwords: [[UInt8]]

  /// - Parameter passwords: candidates for opening the document.
  public init(_ input: JobInput, _ passwords: [[UInt8]]) {
    self.input = input
    self.passwords = passwords
  }

  /// Writes the document with text, or unchanged.
  ///
  /// - Parameter text: returns the lines of a page, by its index. Empty for a page that stays unchanged.
  /// - Returns: The reason why the document is unchanged, as the end of a sentence that starts with the file's name.
  ///   Empty if it has changed.
  public func write(
    to output: JobOutput, text: (Int) throws(JobFailure) -> [LayerLine]
  ) throws(JobFailure) -> String {
    let file = try PDFFile(reading: input, passwords)
    guard let reason = try reasonToKeep(file, writing: output, text) else { return "" }
    try output.restart()
    try unsafe output.write(input.bytes.bytes)
    return reason
  }

  private func reasonToKeep(
    _ file: PDFFile, writing output: JobOutput, _ text: (Int) throws(JobFailure) -> [LayerLine]
  ) throws(JobFailure) -> String? {
    let damage = "is not changed: it is damaged, and programs may display it differently"
    if file.isDamaged || file.isRecovered { return damage }
    if file.isEncrypted, !file.allowsAll { return "is not changed: its owner forbids that" }
    if file.isSigned {
      return "is not changed: it is signed, and the signature would report the change"
    }
    let objects = ObjectCache(of: file)
    var tree = PageTree(file, objects)
    guard let update = try PDFUpdate(to: file, output) else { return damage }
    let layer = try TextLayer(to: update)
    // A page that occurs twice gets its text once.
    var seen: Set<PDFObject.ID> = []
    for index in 0..<(try tree.count()) {
      guard let page = try tree.page(at: index), seen.insert(page.id).inserted,
        let frame = PageFrame(of: page, objects)
      else { continue }
      let lines = try text(index)
      let resources = PageFonts(of: page, objects)
      if let content = try layer.write(lines, in: frame, font: resources.name) {
        try update.replace(page.id, Self.page(page, content, resources.adding(layer.font), objects))
      }
      file.releaseObjects()
    }
    if file.isDamaged { return damage }
    if layer.isEmpty { return "is not changed: none of its pages has text to recognise" }
    try layer.finish()
    try update.finish()
    return nil
  }

  /// Returns a page's text with other resources, and with content before its own contents, where the graphics state is
  /// known.
  private static func page(
    _ page: PageTree.Page, _ content: Int, _ resources: [UInt8], _ objects: ObjectCache
  ) -> [UInt8] {
    var contents = Array("\(content) 0 R".utf8)
    if let value = page.text.value(of: "/Contents"), !value.elementsEqual("null".utf8) {
      let isStream = page.text.reference(for: "/Contents").map { objects.object($0).kind == .stream } ?? false
      let own = isStream ? [value] : ObjectText.items(objects.resolved(value).bytes[...])
      contents += own.flatMap { [0x20] + $0 }
    }
    var text = page.text.without(["/Contents", "/Resources"]).bytes.dropLast(2)
    text += " /Contents [ ".utf8 + contents + Array(" ] /Resources ".utf8) + resources + Array(" >>".utf8)
    return Array(text)
  }
}
