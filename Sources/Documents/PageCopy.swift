internal import JobFiles

/// Some pages of a document on their way into a new one, with all that they refer to.
///
/// Streams are copied as they are. What is left behind: other pages, which makes links to them lead nowhere, and the names
/// of places on them; the outline, the structure and article threads, which belong to the whole; fields of the form that
/// are not on these pages.
struct PageCopy {
  private let file: PDFFile
  private let objects: ObjectCache
  private let places: NamedPlaces
  private let writer: PDFWriter
  /// The new number of each object that was met; nil: not copied.
  private var numbers: [PDFObject.ID: Int?] = [:]
  /// Met and not yet written.
  private var waiting: [(id: PDFObject.ID, number: Int)] = []
  private var fields = FormFields()
  private var hasLayers = false
  /// As they stand in what was copied.
  private var destinationNames: Set<[UInt8]> = []

  private let catalog: Int
  private let tree: Int

  init(from file: PDFFile, objects: ObjectCache, places: NamedPlaces, to output: JobOutput) {
    self.file = file
    self.objects = objects
    self.places = places
    writer = PDFWriter(to: output, version: file.version)
    catalog = writer.reserve()
    tree = writer.reserve()
  }

  /// Writes the whole new document.
  ///
  /// - Parameter form: the fields at the top of the document's form.
  mutating func write(_ pages: [PageTree.Page], form: Set<PDFObject.ID>) throws(JobFailure) {
    // Without a form, widgets have no fields above them.
    if file.root["/AcroForm"] != nil { fields = FormFields(on: pages, objects, in: form) }
    let kids = pages.map { page in
      let number = writer.reserve()
      // A page that comes twice is linked to where it comes first.
      if numbers[page.id] == nil { numbers[page.id] = number }
      return number
    }
    for (page, number) in zip(pages, kids) {
      try write(page, number)
      try writeWaiting()
    }
    let list = kids.map { "\($0) 0 R" }.joined(separator: " ")
    try writer.write(tree, Array("<< /Type /Pages /Count \(kids.count) /Kids [ \(list) ] >>".utf8))
    var root = Array("<< /Type /Catalog /Pages \(tree) 0 R".utf8)
    if fields.hasWidgets, let form = file.root["/AcroForm"] {
      // What is left out is about the form as a whole.
      let rest = ObjectText(form.ownText).without(["/Fields", "/XFA", "/CO", "/SigFlags"])
      root += Array(" /AcroForm ".utf8) + open(translated(rest))
      root += Array("/Fields ".utf8) + references(to: fields.top) + Array(" >>".utf8)
      try writeWaiting()
    }
    for key in ["/Lang", "/Version", "/Extensions"] + (hasLayers ? ["/OCProperties"] : []) {
      guard let value = file.root[key] else { continue }
      root += Array(" \(key) ".utf8) + translated(ObjectText(value.text))
      try writeWaiting()
    }
    root += try namedPlaces(on: Set(pages.map(\.id)))
    try writer.write(catalog, root + Array(" >>".utf8))
    try writer.finish(catalog: catalog)
  }

  private mutating func write(_ page: PageTree.Page, _ number: Int) throws(JobFailure) {
    let resources = PageResources(file: file, objects: objects).needed(by: page)
    let text = page.text.without(["/Type", "/Parent", "/B"] + (resources == nil ? [] : ["/Resources"]))
    var own = open(translated(text)) + Array(" /Type /Page /Parent \(tree) 0 R".utf8)
    var inherited = page.inherited
    if let resources { inherited["/Resources"] = resources }
    for (key, value) in inherited.sorted(by: { $0.key < $1.key }) {
      own += Array(" \(key) ".utf8) + translated(value)
    }
    try writer.write(number, own + Array(" >>".utf8))
  }

  /// Writes what was met, and what that refers to.
  private mutating func writeWaiting() throws(JobFailure) {
    while let (id, number) = waiting.popLast() {
      let object = objects.object(id)
      switch object.kind {
      case .stream:
        let dictionary = translated(object.text)
        try file.object(id).withData { [writer] (data) throws(JobFailure) in
          try writer.write(number, dictionary: dictionary, stream: data)
        }
      case .fields:
        let kids = Array("/Kids ".utf8) + references(to: fields.kids[id] ?? []) + Array(" >>".utf8)
        try writer.write(number, open(translated(object.text)) + kids)
      case .layer:
        hasLayers = true
        fallthrough
      case .plain, .boundary:
        try writer.write(number, translated(object.text))
      }
    }
  }

  /// What the catalog has to say of places that the copied links name, as far as they are on these pages.
  private mutating func namedPlaces(on pages: Set<PDFObject.ID>) throws(JobFailure) -> [UInt8] {
    var (strings, names) = ([UInt8](), [UInt8]())
    for (name, place) in places.places(destinationNames, on: pages) {
      let entry = name + [0x20] + translated(place) + [0x20]
      if name.first == 0x2F { names += entry } else { strings += entry }
      try writeWaiting()
    }
    let tree = strings.isEmpty ? [] : Array(" /Names << /Dests << /Names [ ".utf8) + strings + Array("] >> >>".utf8)
    return names.isEmpty ? tree : tree + Array(" /Dests << ".utf8) + names + Array(">>".utf8)
  }

  /// A dictionary's text without its end.
  private func open(_ dictionary: [UInt8]) -> ArraySlice<UInt8> { dictionary[..<(dictionary.count - 2)] }

  /// The text with the new numbers.
  private mutating func translated(_ text: ObjectText) -> [UInt8] {
    for name in text.destinations { destinationNames.insert(Array(text.bytes[name])) }
    if text.references.isEmpty { return text.bytes }
    var translation: [UInt8] = []
    translation.reserveCapacity(text.bytes.count + 16)
    var end = 0
    for reference in text.references {
      translation += text.bytes[end..<reference.range.lowerBound]
      refer(to: reference.id, in: &translation)
      end = reference.range.upperBound
    }
    translation += text.bytes[end...]
    return translation
  }

  private mutating func references(to ids: [PDFObject.ID]) -> [UInt8] {
    var list = Array("[ ".utf8)
    for id in ids {
      refer(to: id, in: &list)
      list.append(0x20)
    }
    return list + [0x5D]
  }

  private mutating func refer(to id: PDFObject.ID, in text: inout [UInt8]) {
    guard let number = number(for: id) else {
      text += "null".utf8
      return
    }
    text.append(decimal: number)
    text += " 0 R".utf8
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
