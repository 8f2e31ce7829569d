internal import Catalogue
internal import Pixels
internal import WorkerKit

/// Copies some pages of a document into a new one, with everything they refer to.
///
/// Streams are copied unchanged. Not copied are:
///
/// - other pages and the names of destinations on them, so that links to them have no target
/// - the outline and article threads, which belong to the whole document
/// - attachments
/// - form fields and structure elements that are not on these pages
struct PageCopy {
  let file: PDFFile
  let objects: ObjectCache
  let places: NamedPlaces
  let writer: PDFWriter
  /// The writer of non-stream objects after `pack()`. Nil if `writer` writes them.
  private var packedWriter: PackedWriter?
  /// The new number of each object found. Nil if it is not copied.
  var numbers: [PDFObject.ID: Int?] = [:]
  /// Objects that are numbered but not yet written.
  var waiting: [(id: PDFObject.ID, number: Int)] = []
  private(set) var fields = FormFields()
  private(set) var hasLayers = false
  /// Whether `structureKeys` is collected.
  private var isTagged = false
  /// The structure's keys of the copied pages, their annotations and forms.
  private(set) var structureKeys: Set<Int> = []
  /// The names of destinations, as written in the copied objects.
  var destinationNames: Set<[UInt8]> = []

  /// The page tree node that is the parent of the pages.
  private let tree: Int
  /// The number of the file in a merged document, from 1. Nil if the document is not merged.
  let member: Int?
  /// The copied pages.
  var copied: Set<PDFObject.ID> = []
  /// The parent of this file's fields. It separates them from fields of the same names in other files.
  private(set) var topField: Int?
  /// The names of destinations in the file, mapped to those in a merged document. Nil if not a destination of this
  /// file.
  var newNames: [[UInt8]: [UInt8]?] = [:]

  /// - Parameters:
  ///   - tree: the page tree node that becomes the parent of the pages.
  ///   - member: the number of the file in a merged document, from 1. Nil if the document is not merged.
  init(
    from file: PDFFile, objects: ObjectCache, places: NamedPlaces, to writer: PDFWriter, below tree: Int, member: Int?
  ) {
    self.file = file
    self.objects = objects
    self.places = places
    self.writer = writer
    self.tree = tree
    self.member = member
  }

  /// Writes the whole new document.
  ///
  /// - Parameter form: the top-level fields of the document's form.
  mutating func write(
    _ pages: [PageTree.Page], form: Set<PDFObject.ID>, _ labels: PageLabels?, _ structure: DocumentStructure?,
    _ conformance: Conformance?, catalog: Int
  ) throws(JobFailure) {
    isTagged = structure != nil
    let kids = try copy(pages, form: form)
    var root = labels.map {
      Array("/PageLabels << /Nums [ ".utf8) + $0.entries(for: pages.map(\.index)) + Array("] >> ".utf8)
    }
    if let structure, let number = try add(structure, isPacked: conformance?.allowsPacking ?? true) {
      root = (root ?? []) + Array("/StructTreeRoot \(number) 0 R ".utf8)
      if let marks = file.root["/MarkInfo"] {
        root = (root ?? []) + Array("/MarkInfo ".utf8) + translated(ObjectText(marks.ownText))
      }
    } else if let metadata = conformance?.withoutStructure {
      try replaceMetadata(with: metadata)
    }
    try writeWhole(kids, root ?? [], catalog: catalog)
  }

  /// Writes other metadata under the number that replaces the document's.
  private mutating func replaceMetadata(with data: [UInt8]) throws(JobFailure) {
    guard let id = file.root["/Metadata"]?.id else { return }
    let dictionary = objects.object(id).text.without(["/Filter", "/DecodeParms"])
    let number = assignNumber(to: id)
    try unsafe writer.write(number, dictionary: translated(dictionary), stream: data.span.bytes)
  }

  mutating func copy(_ pages: [PageTree.Page], form: Set<PDFObject.ID>) throws(JobFailure) -> [Int] {
    copied = Set(pages.map(\.id))
    // Without a form, widgets have no parent fields.
    if file.root["/AcroForm"] != nil { fields = FormFields(on: pages, objects, in: form) }
    if member != nil, !fields.top.isEmpty { topField = writer.reserve() }
    let kids = pages.map { page in
      let number = writer.reserve()
      // Links to a page that is copied twice lead to its first copy.
      if numbers[page.id] == nil { numbers[page.id] = number }
      return number
    }
    for (page, number) in zip(pages, kids) {
      try write(page, number)
      try writeWaiting()
    }
    return kids
  }

  /// The catalog entries that are copied unchanged. They determine the pages' appearance, the targets of their links,
  /// and the document's claims of conformance.
  private static let kept = [
    "/Lang", "/Version", "/Extensions", "/Metadata", "/OutputIntents", "/PageLayout", "/URI",
  ]

  /// - Parameter entries: additional entries of the catalog.
  private mutating func writeWhole(_ kids: [Int], _ entries: [UInt8], catalog: Int) throws(JobFailure) {
    let list = kids.map { "\($0) 0 R" }.joined(separator: " ")
    try writer.write(tree, Array("<< /Type /Pages /Count \(kids.count) /Kids [ \(list) ] >>".utf8))
    var root = Array("<< /Type /Catalog /Pages \(tree) 0 R".utf8)
    if fields.hasWidgets, let form = file.root["/AcroForm"], form.isDictionary {
      // The entries left out concern the form as a whole.
      let rest = ObjectText(form.ownText).without(["/Fields", "/XFA", "/CO", "/SigFlags"])
      root += Array(" /AcroForm ".utf8) + PageCopy.open(translated(rest))
      root += Array("/Fields ".utf8) + references(to: fields.top) + Array(" >>".utf8)
      try writeWaiting()
    }
    for key in PageCopy.kept + (hasLayers ? ["/OCProperties"] : []) {
      guard let value = file.root[key] else { continue }
      root += Array(" \(key) ".utf8) + translated(ObjectText(value.text))
      try writeWaiting()
    }
    if let preferences = file.root["/ViewerPreferences"], preferences.isDictionary {
      // The range is of the original's pages.
      let rest = ObjectText(preferences.ownText).without(["/PrintPageRange"])
      root += Array(" /ViewerPreferences ".utf8) + translated(rest)
    }
    root += try namedPlaces()
    try writer.write(catalog, root + [0x20] + entries + Array(" >>".utf8))
    let information = try writeInformation()
    // Writes the objects that the last entries refer to: a number without an object would be damage.
    try writeWaiting()
    guard let packedWriter else { return try writer.finish(catalog: catalog, information: information) }
    try packedWriter.finish(catalog: catalog, information: information, id: nil)
  }

  /// Makes later objects go into compressed object streams, which need `PackedWriter.version`.
  mutating func pack() throws(JobFailure) {
    // libdeflate's default: 9 takes twice the time and saves five percent.
    guard let deflate = Deflate(level: 6) else { throw JobFailure.noMemory() }
    packedWriter = PackedWriter(writer, deflate)
  }

  /// Writes an object that is not a stream.
  func write(_ number: Int, _ text: [UInt8]) throws(JobFailure) {
    guard let packedWriter else { return try writer.write(number, text) }
    try packedWriter.write(number, text)
  }

  /// Writes the document's title, author and dates.
  private mutating func writeInformation() throws(JobFailure) -> Int? {
    guard let information = file.trailer["/Info"], information.isDictionary else { return nil }
    let number = writer.reserve()
    try writer.write(number, translated(ObjectText(information.ownText)))
    return number
  }

  private mutating func write(_ page: PageTree.Page, _ number: Int) throws(JobFailure) {
    let resources = PageResources(file: file, objects: objects).needed(by: page)
    let text = page.text.without(["/Type", "/Parent", "/B"] + (resources == nil ? [] : ["/Resources"]))
    noteStructure(of: text)
    var own = PageCopy.open(translated(text)) + Array(" /Type /Page /Parent \(tree) 0 R".utf8)
    var inherited = page.inherited
    if let resources { inherited["/Resources"] = resources }
    for (key, value) in inherited.sorted(by: { $0.key < $1.key }) {
      own += Array(" \(key) ".utf8) + translated(value)
    }
    try writer.write(number, own + Array(" >>".utf8))
  }

  /// Writes the queued objects, and those that they refer to.
  mutating func writeWaiting() throws(JobFailure) {
    while let (id, number) = waiting.popLast() {
      let object = objects.object(id)
      noteStructure(of: object.text)
      switch object.kind {
      case .stream:
        let dictionary = translated(object.text)
        try file.object(id).withData { [writer] (data) throws(JobFailure) in
          try writer.write(number, dictionary: dictionary, stream: data)
        }
      case .fields:
        let kids = Array("/Kids ".utf8) + references(to: fields.kids[id] ?? []) + Array(" >>".utf8)
        let text = PageCopy.open(translated(object.text)) + kids
        try write(number, below(topField, id, Array(text)))
      case .layer:
        hasLayers = true
        fallthrough
      case .plain, .boundary:
        // Evaluated before the call: modifying this copy during an access would copy all numbers.
        let text = translated(object.text)
        try write(number, below(topField, id, text))
      }
    }
  }

  private mutating func noteStructure(of text: ObjectText) {
    guard isTagged else { return }
    for key in ["/StructParents", "/StructParent"] {
      if let number = text.integer(for: key) { structureKeys.insert(number) }
    }
  }

  /// Returns the new number of a copied object.
  func newNumber(of id: PDFObject.ID) -> Int? { numbers[id] ?? nil }

  /// Assigns a number to an object that the caller writes.
  mutating func assignNumber(to id: PDFObject.ID) -> Int {
    let number = writer.reserve()
    numbers[id] = number
    return number
  }

  func isCopied(page id: PDFObject.ID) -> Bool { copied.contains(id) }

  /// Returns a field's dictionary. A top-level field in a merged document gets the parent field of its file.
  private func below(_ field: Int?, _ id: PDFObject.ID, _ dictionary: [UInt8]) -> [UInt8] {
    guard let field, fields.isTop(id) else { return dictionary }
    return PageCopy.open(dictionary) + Array(" /Parent \(field) 0 R >>".utf8)
  }

  /// Returns a dictionary's text without the closing brackets.
  private static func open(_ dictionary: [UInt8]) -> ArraySlice<UInt8> { dictionary[..<(dictionary.count - 2)] }
}

/// The files attached to a document as a whole (ISO 32000-1, 7.11.4).
extension PageCopy {
  /// A name's bytes, and the text of its value in the new document.
  typealias Attachment = (name: [UInt8], file: [UInt8])

  /// The maximum number of attachments. More mean damage.
  private static let mostAttachments = 1 << 16

  /// Writes the attachments. Returns their names in the order of the name tree.
  mutating func addAttachments() throws(JobFailure) -> [Attachment] {
    guard let top = file.root["/Names"]?["/EmbeddedFiles"]?.text else { return [] }
    var attachments: [Attachment] = []
    var seen: Set<PDFObject.ID> = []
    var waiting = [objects.resolved(top[...])]
    while let node = waiting.popLast(), attachments.count < Self.mostAttachments {
      let kids = node.value(of: "/Kids").map { objects.resolved($0).references } ?? []
      waiting += kids.reversed().filter { seen.insert($0.id).inserted }.map { objects.object($0.id).text }
      let names = node.value(of: "/Names").map { ObjectText.items(objects.resolved($0).bytes[...]) } ?? []
      for index in stride(from: 0, to: names.count - 1, by: 2) {
        guard let name = ObjectText.string(names[index]) else { continue }
        attachments.append((name, translated(ObjectText(Array(names[index + 1])))))
        try writeWaiting()
      }
    }
    return attachments
  }
}

/// Named destinations of links in the document.
extension PageCopy {
  /// Returns the catalog's entries for the named destinations that the copied links use and that are on these pages.
  mutating func namedPlaces() throws(JobFailure) -> [UInt8] {
    let (strings, names) = try placeEntries()
    let tree = strings.isEmpty ? [] : Array(" /Names << /Dests << /Names [ ".utf8) + strings + Array("] >> >>".utf8)
    return names.isEmpty ? tree : tree + Array(" /Dests << ".utf8) + names + Array(">>".utf8)
  }

  mutating func placeEntries() throws(JobFailure) -> (strings: [UInt8], names: [UInt8]) {
    var (strings, names) = ([UInt8](), [UInt8]())
    for (name, place) in places.places(destinationNames, on: copied) {
      let entry = (newName(of: name) ?? name) + [0x20] + translated(place) + [0x20]
      if name.first == 0x2F { names += entry } else { strings += entry }
      try writeWaiting()
    }
    return (strings, names)
  }

  /// Returns the name of a destination in a merged document. Returns `nil` if this file has no such destination.
  mutating func newName(of name: [UInt8]) -> [UInt8]? {
    guard let member else { return nil }
    if let known = newNames[name] { return known }
    var new: [UInt8]?
    if !places.places([name], on: copied).isEmpty {
      // Names sort by file, then by themselves.
      let digits = String(member)
      let mark = Array((String(repeating: "0", count: max(0, 6 - digits.count)) + digits + ".").utf8)
      if name.first == 0x2F {
        new = [0x2F] + mark + name.dropFirst()
      } else if let string = ObjectText.string(name[...]) {
        let hexadecimal = Array("0123456789abcdef".utf8)
        new = [0x3C] + (mark + string).flatMap { [hexadecimal[Int($0 >> 4)], hexadecimal[Int($0 & 15)]] } + [0x3E]
      }
    }
    newNames[name] = .some(new)
    return new
  }
}
