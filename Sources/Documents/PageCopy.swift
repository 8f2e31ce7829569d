internal import JobFiles

/// Some pages of a document on their way into a new one, with all that they refer to.
///
/// Streams are copied as they are. What is left behind: other pages, which makes links to them lead nowhere; the outline,
/// the structure and article threads, which belong to the whole; fields of the form that are not on these pages.
struct PageCopy {
  private let file: PDFFile
  private let objects: ObjectCache
  private let writer: PDFWriter
  /// The new number of each object that was met; nil: not copied.
  private var numbers: [PDFObject.ID: Int?] = [:]
  /// Met and not yet written.
  private var waiting: [(id: PDFObject.ID, number: Int)] = []
  private var fields = FormFields(on: [], in: [])
  private var hasLayers = false

  private let catalog: Int
  private let tree: Int

  init(from file: PDFFile, objects: ObjectCache, to output: JobOutput) {
    self.file = file
    self.objects = objects
    writer = PDFWriter(to: output, version: file.version)
    catalog = writer.reserve()
    tree = writer.reserve()
  }

  /// Writes the whole new document.
  ///
  /// - Parameter form: the fields at the top of the document's form.
  mutating func write(_ pages: [PageTree.Page], form: Set<PDFObject.ID>) throws(JobFailure) {
    fields = FormFields(on: pages, in: form)
    let places = pages.map { page in
      let number = writer.reserve()
      // A page that comes twice is linked to where it comes first.
      if let id = page.object.id, numbers[id] == nil { numbers[id] = number }
      return number
    }
    for (page, number) in zip(pages, places) {
      try write(page, number)
      try writeWaiting()
    }
    let kids = places.map { "\($0) 0 R" }.joined(separator: " ")
    try writer.write(tree, Array("<< /Type /Pages /Count \(places.count) /Kids [ \(kids) ] >>".utf8))
    var root = Array("<< /Type /Catalog /Pages \(tree) 0 R".utf8)
    if fields.hasWidgets, let form = file.root["/AcroForm"] {
      // What is left out is about the form as a whole.
      let rest = ObjectText(form.ownText).without(["/Fields", "/XFA", "/CO", "/SigFlags"])
      root += Array(" /AcroForm ".utf8) + translated(rest).dropLast(2)
      root += Array("/Fields ".utf8) + references(to: fields.top) + Array(" >>".utf8)
      try writeWaiting()
    }
    for key in ["/Lang", "/Version", "/Extensions"] + (hasLayers ? ["/OCProperties"] : []) {
      guard let value = file.root[key] else { continue }
      root += Array(" \(key) ".utf8) + translated(ObjectText(value.text))
      try writeWaiting()
    }
    try writer.write(catalog, root + Array(" >>".utf8))
    try writer.finish(catalog: catalog)
  }

  private mutating func write(_ page: PageTree.Page, _ number: Int) throws(JobFailure) {
    let text = ObjectText(page.object.ownText).without(["/Type", "/Parent", "/B"])
    var own = translated(text).dropLast(2) + Array(" /Type /Page /Parent \(tree) 0 R".utf8)
    for (key, value) in page.inherited.sorted(by: { $0.key < $1.key }) {
      own += Array(" \(key) ".utf8) + translated(ObjectText(value.text))
    }
    try writer.write(number, own + Array(" >>".utf8))
  }

  /// Writes what was met, and what that refers to.
  private mutating func writeWaiting() throws(JobFailure) {
    while let (id, number) = waiting.popLast() {
      let object = objects.object(id)
      switch object.kind {
      case .stream:
        let dictionary = translated(object.text.without(["/Length"]))
        try file.object(id).withData { [writer] (data) throws(JobFailure) in
          try writer.write(number, dictionary: dictionary, stream: data)
        }
      case .fields:
        var text = translated(object.text.without(["/Kids"])).dropLast(2)
        text += Array("/Kids ".utf8) + references(to: fields.kids[id] ?? []) + Array(" >>".utf8)
        try writer.write(number, Array(text))
      case .layer:
        hasLayers = true
        fallthrough
      case .plain, .boundary:
        try writer.write(number, translated(object.text))
      }
    }
  }

  /// The text with the new numbers.
  private mutating func translated(_ text: ObjectText) -> [UInt8] {
    if text.references.isEmpty { return text.bytes }
    var translation: [UInt8] = []
    translation.reserveCapacity(text.bytes.count + 16)
    var end = 0
    for reference in text.references {
      translation += text.bytes[end..<reference.range.lowerBound]
      translation += self.reference(to: reference.id)
      end = reference.range.upperBound
    }
    return translation + text.bytes[end...]
  }

  private mutating func references(to ids: [PDFObject.ID]) -> [UInt8] {
    var list = Array("[ ".utf8)
    for id in ids { list += reference(to: id) + [0x20] }
    return list + [0x5D]
  }

  private mutating func reference(to id: PDFObject.ID) -> [UInt8] {
    guard let number = number(for: id) else { return Array("null".utf8) }
    return Array("\(number) 0 R".utf8)
  }

  private mutating func number(for id: PDFObject.ID) -> Int? {
    if let known = numbers[id] { return known }
    let kind = objects.object(id).kind
    let isCopied =
      switch kind {
      case .boundary: false
      case .fields: fields.kids[id] != nil
      case .plain, .stream, .layer: true
      }
    let number = isCopied ? writer.reserve() : nil
    numbers[id] = .some(number)
    if let number { waiting.append((id, number)) }
    return number
  }
}
