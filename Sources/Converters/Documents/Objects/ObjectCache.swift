/// A cache of the texts of a document's recently copied objects: pages share fonts and much else.
final class ObjectCache {
  struct Object {
    enum Kind {
      case plain
      case stream
      /// An optional content group or membership. Its visibility depends on the document's layers.
      case layer
      /// A form field with kids that belong to pages. Copied with those kids only.
      case fields
      /// A page, a link from pages to the rest of the document, or null. Not copied through a reference.
      case boundary
    }

    /// The object's text without the parts that are rewritten in a copy: a stream's length, a field's kids.
    let text: ObjectText
    let kind: Kind
  }

  private static let boundaries = [
    "/Page", "/Pages", "/Catalog", "/StructTreeRoot", "/StructElem", "/Bead", "/Thread", "/Outlines",
  ]
  private static let limit = 16 << 20

  private let file: PDFFile
  private let packed: PackedObjects
  private var objects: [PDFObject.ID: Object] = [:]
  private var size = 0

  init(of file: PDFFile) {
    self.file = file
    packed = PackedObjects(of: file)
  }

  func object(_ id: PDFObject.ID) -> Object {
    if let object = objects[id] { return object }
    let object = read(id)
    let text = object.text
    if size > ObjectCache.limit {
      objects = [:]
      size = 0
    }
    objects[id] = object
    // The estimated overhead of an object beside its text.
    size += text.bytes.count + 200 + 40 * (text.references.count + text.entries.count)
    return object
  }

  /// Returns a value, or the object it refers to.
  func resolved(_ value: ArraySlice<UInt8>) -> ObjectText {
    let text = ObjectText(Array(value))
    guard let reference = text.references.first, reference.range == text.bytes.indices else { return text }
    return object(reference.id).text
  }

  /// Returns the items of an array that is a dictionary's value. Empty if there is none.
  func items(of text: ObjectText, _ key: String) -> [ArraySlice<UInt8>] {
    text.value(of: key).map { ObjectText.items(resolved($0).bytes[...]) } ?? []
  }

  private func read(_ id: PDFObject.ID) -> Object {
    if let text = packed.text(of: id).flatMap(ObjectText.init(sound:)) {
      return ObjectCache.object(text, isStream: false)
    }
    let handle = file.object(id)
    var text = ObjectText(handle.ownText)
    let isStream = handle.isStream
    if isStream, file.hidesFiles, text.has("/EmbeddedFile", for: "/Type") { return Object(text: text, kind: .boundary) }
    if isStream, file.isEncrypted { text = text.withoutCryptFilter }
    return ObjectCache.object(text, isStream: isStream)
  }

  private static func object(_ text: ObjectText, isStream: Bool) -> Object {
    if isStream { return Object(text: text.without(["/Length"]), kind: .stream) }
    let kind = kind(of: text)
    return Object(text: kind == .fields ? text.without(["/Kids"]) : text, kind: kind)
  }

  private static func kind(of text: ObjectText) -> Object.Kind {
    if text.bytes.elementsEqual("null".utf8) { return .boundary }
    if let type = text.value(of: "/Type") {
      if boundaries.contains(where: { type.elementsEqual($0.utf8) }) { return .boundary }
      if ["/OCG", "/OCMD"].contains(where: { type.elementsEqual($0.utf8) }) { return .layer }
    }
    if text.value(of: "/Kids") != nil, text.value(of: "/T") != nil || text.value(of: "/FT") != nil { return .fields }
    return .plain
  }
}
