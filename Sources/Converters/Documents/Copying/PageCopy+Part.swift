internal import Catalogue
internal import WorkerKit

/// Copies pages into a document merged from several files.
extension PageCopy {
  /// The parts of a copied file that the merged document refers to, with its object numbers.
  struct Part {
    struct Form {
      let field: Int
      let resources: FormResources
      let needsAppearances: Bool
    }

    struct Intents {
      /// The intents in PDF syntax. Empty for all files but the first: only one file's are written.
      let text: [UInt8]
      let digest: UInt64
    }

    let pages: [Int]
    let intents: Intents?
    let form: Form?
    /// The named destinations whose names are strings, in order.
    let strings: [UInt8]
    let names: [UInt8]
    let layers: [UInt8]
    let hiddenLayers: [UInt8]
    let outline: Outline?
    let attachments: [Attachment]
    let labels: PageLabels?
  }

  /// Writes pages into a document merged from several files, and the objects they refer to.
  ///
  /// - Parameters:
  ///   - form: the top-level fields of the file's form.
  ///   - labels: the file's page labels.
  ///   - intents: the file's output intents.
  ///   - entry: the outline entry of this file.
  mutating func add(
    _ pages: [PageTree.Page], form: Set<PDFObject.ID>, _ labels: PageLabels?, _ intents: OutputIntents?,
    below entry: Int
  ) throws(JobFailure) -> Part {
    let kids = try copy(pages, form: form)
    var given: Part.Intents?
    if let intents {
      given = Part.Intents(text: member == 1 ? translated(intents.text) : [], digest: intents.digest)
      try writeWaiting()
    }
    let form = try addForm()
    let outline = try addOutline(below: entry)
    let attachments = try addAttachments()
    let (strings, names) = try placeEntries()
    let (layers, hidden) = try addLayers()
    return Part(
      pages: kids, intents: given, form: form, strings: strings, names: names, layers: layers, hiddenLayers: hidden,
      outline: outline, attachments: attachments, labels: labels)
  }

  private mutating func addForm() throws(JobFailure) -> Part.Form? {
    guard let topField, let member, let form = file.root["/AcroForm"] else { return nil }
    let text = ObjectText(form.ownText)
    var field = Array("<< /T (\(member)) /Kids ".utf8) + references(to: fields.top)
    for key in ["/DA", "/Q"] {
      if let value = text.value(of: key) { field += Array(" \(key) ".utf8) + translated(ObjectText(Array(value))) }
    }
    try writer.write(topField, field + Array(" >>".utf8))
    var resources = FormResources()
    let own = text.value(of: "/DR").map { objects.resolved($0) }
    for entry in own?.entries ?? [] {
      guard let own else { break }
      let category = objects.resolved(own.bytes[entry.value])
      resources.add(
        Array(own.bytes[entry.key]), whole: translated(category),
        category.entries.map {
          (Array(category.bytes[$0.key]), translated(ObjectText(Array(category.bytes[$0.value]))))
        })
    }
    try writeWaiting()
    return Part.Form(
      field: topField, resources: resources, needsAppearances: text.has("true", for: "/NeedAppearances"))
  }

  private mutating func addLayers() throws(JobFailure) -> (all: [UInt8], hidden: [UInt8]) {
    guard hasLayers, let properties = file.root["/OCProperties"] else { return ([], []) }
    let text = ObjectText(properties.ownText)
    let all = layers(text, "/OCGs")
    let usual = text.value(of: "/D").map { objects.resolved($0) }
    var hidden = usual.map { layers($0, "/OFF") } ?? []
    if let usual, usual.has("/OFF", for: "/BaseState") {
      let shown = Set(layers(usual, "/ON"))
      hidden = all.filter { !shown.contains($0) }
    }
    let lists = (
      Array(references(to: all).dropFirst().dropLast()), Array(references(to: hidden).dropFirst().dropLast())
    )
    try writeWaiting()
    return lists
  }

  private func layers(_ dictionary: ObjectText, _ key: String) -> [PDFObject.ID] {
    dictionary.value(of: key).map { objects.resolved($0).references.map(\.id) } ?? []
  }
}
