internal import Catalogue
internal import WorkerKit

/// The largest size at which each image of a document is painted, in any context: pages, forms, patterns, soft masks
/// and annotation appearances.
struct ImagePlacements {
  private struct Visit: Hashable {
    let id: PDFObject.ID
    let matrix: Matrix
    /// The object whose resources a form without its own uses.
    let resourceOwner: PDFObject.ID?
  }

  /// The resources that names in content refer to, and the object that owns them.
  private struct Scope {
    let resources: PDFObject
    let owner: PDFObject.ID
  }

  private struct Form {
    let matrix: Matrix
    let hasResources: Bool
  }

  /// The object that a name refers to.
  private enum Painted {
    case image(ImageSizes.Image)
    case form(PDFObject.ID)
    case nothing
  }

  private(set) var sizes = ImageSizes()
  /// Whether all content was scanned. If some could not be read or would take too long, an image may be painted larger
  /// than recorded.
  var isComplete: Bool { hasSeenAll && search.isComplete }

  private let file: PDFFile
  private var hasSeenAll = true
  private var search = ResourceSearch()
  private var visits: Set<Visit> = []
  private var forms: [PDFObject.ID: Form] = [:]
  /// Whether the glyphs of each visited font use the resources of the content that shows text with it.
  private var borrowers: [PDFObject.ID: Bool] = [:]
  private var budget = ImagePlacements.mostContent
  /// The number of visits on the current page. Each one takes handles that are released only at the end of the page.
  private var pageVisits = 0
  private var pageNames = 0

  /// The maximum size of all content scanned, in bytes. Content painted at several sizes is scanned each time.
  private static let mostContent = 1 << 28
  private static let deepest = 24
  private static let mostVisits = 1 << 18
  private static let mostPageVisits = 10_000
  private static let mostPageNames = 1 << 18

  init(on tree: inout PageTree, of file: PDFFile) throws(JobFailure) {
    self.file = file
    for index in 0..<(try tree.count()) {
      guard let page = try tree.page(at: index) else { break }
      let object = file.object(page.id)
      let unit = object["/UserUnit"]?.number ?? 1
      let matrix = Matrix(a: unit, d: unit)
      (pageVisits, pageNames) = (0, 0)
      if let resources = object.inherited("/Resources"), search.leadsToImages(resources) {
        let contents = object["/Contents"]
        var content: [UInt8] = []
        for part in contents.map({ $0.isArray ? $0.items : [$0] }) ?? [] {
          // A missing part counts as empty.
          guard part.isStream else { continue }
          content += (take(part) ?? []) + [0x0A]
        }
        walk(content, Scope(resources: resources, owner: page.id), matrix, depth: 0)
      }
      for annotation in object["/Annots"]?.items ?? [] { walk(annotation, on: matrix) }
      file.releaseObjects()
      file.forgetErrors()
    }
  }

  /// Returns a stream's content, if the budget permits.
  private mutating func take(_ stream: PDFObject) -> [UInt8]? {
    guard budget > 0, let content = stream.plainData(atMost: budget) else {
      hasSeenAll = false
      return nil
    }
    budget -= content.count + 64
    return content
  }

  private mutating func walk(_ content: [UInt8], _ scope: Scope, _ start: Matrix, depth: Int) {
    for pattern in search.entries("/Pattern", of: scope.resources) where pattern.isStream {
      if let id = pattern.id { enter(id, start, scope, depth) }
    }
    for font in search.entries("/Font", of: scope.resources) { lookAtGlyphs(of: font, scope) }
    let (objects, states) = (scope.resources["/XObject"], scope.resources["/ExtGState"])
    var painted: [String: Painted] = [:]
    var masks: [String: PDFObject.ID?] = [:]
    var stack: [Matrix] = []
    var matrix = start
    var scanner = ContentScanner(content)
    while let step = scanner.next() {
      switch step {
      case .save: if stack.count < 1 << 16 { stack.append(matrix) }
      case .restore: matrix = stack.popLast() ?? matrix
      case .transform(let next): matrix = next.then(matrix)
      case .paint(let name):
        let known = painted[name] ?? self.painted(name, in: objects)
        painted[name] = known
        switch known {
        case .image(let image): if !sizes.place(image, matrix) { hasSeenAll = false }
        case .form(let id): enter(id, matrix, scope, depth)
        case .nothing: break
        }
      case .state(let name):
        let known = masks[name] ?? mask(name, in: states)
        masks[name] = .some(known)
        if let known { enter(known, matrix, scope, depth) }
      case .font: break
      }
    }
    if !scanner.isCertain { hasSeenAll = false }
  }

  // MARK: Names

  /// Returns a dictionary's value. If it is missing, the scan is incomplete: other readers may still find something to
  /// paint.
  private mutating func value(_ name: String, in dictionary: PDFObject?) -> PDFObject? {
    pageNames += 1
    guard pageNames < Self.mostPageNames, let value = dictionary?[name] else {
      hasSeenAll = false
      return nil
    }
    return value
  }

  private mutating func painted(_ name: String, in objects: PDFObject?) -> Painted {
    guard let object = value(name, in: objects), object.isStream, let id = object.id else { return .nothing }
    return object.dictionary["/Subtype"]?.name == "/Image" ? .image(ImageSizes.Image(object, id)) : .form(id)
  }

  private mutating func mask(_ name: String, in states: PDFObject?) -> PDFObject.ID? {
    guard let form = value(name, in: states)?["/SMask"]?["/G"], form.isStream else { return nil }
    return form.id
  }

  // MARK: Painted objects

  /// Visits a form or pattern painted with a matrix.
  private mutating func enter(_ id: PDFObject.ID, _ matrix: Matrix, _ resourceOwner: Scope?, _ depth: Int) {
    let form = form(id)
    // Smaller differences have no visible effect on size.
    let rough = Matrix(
      a: (matrix.a * 1024).rounded(), b: (matrix.b * 1024).rounded(), c: (matrix.c * 1024).rounded(),
      d: (matrix.d * 1024).rounded())
    let visit = Visit(id: id, matrix: rough, resourceOwner: form.hasResources ? nil : resourceOwner?.owner)
    if visits.contains(visit) { return }
    guard depth < Self.deepest, visits.count < Self.mostVisits, pageVisits < Self.mostPageVisits,
      pageNames < Self.mostPageNames
    else {
      hasSeenAll = false
      return
    }
    visits.insert(visit)
    pageVisits += 1
    let stream = file.object(id)
    let own = stream.dictionary["/Resources"].map { Scope(resources: $0, owner: id) }
    guard let scope = own ?? resourceOwner, search.leadsToImages(scope.resources), let content = take(stream) else {
      return
    }
    walk(content, scope, form.matrix.then(matrix), depth: depth + 1)
  }

  private mutating func form(_ id: PDFObject.ID) -> Form {
    if let known = forms[id] { return known }
    let dictionary = file.object(id).dictionary
    let form = Form(matrix: Matrix(dictionary["/Matrix"]) ?? Matrix(), hasResources: dictionary["/Resources"] != nil)
    forms[id] = form
    return form
  }

  private mutating func walk(_ annotation: PDFObject, on page: Matrix) {
    // Readers may generate appearances from these.
    for key in ["/I", "/RI", "/IX"] { placeAnyhow(annotation["/MK"]?[key]) }
    guard let looks = annotation["/AP"] else { return }
    for key in looks.keys {
      guard let look = looks[key] else { continue }
      for form in look.isStream ? [look] : look.keys.compactMap({ look[$0] }) where form.isStream {
        guard let id = form.id else { continue }
        let own = self.form(id).matrix
        if let matrix = Matrix(from: form.dictionary["/BBox"], by: own, to: annotation["/Rect"]) {
          enter(id, matrix.then(page), nil, 0)
        } else {
          placeAnyhow(form)
        }
      }
    }
  }

  /// Records the images of a font's glyphs at any size: glyphs scale with the text size, which is not tracked.
  private mutating func lookAtGlyphs(of font: PDFObject, _ scope: Scope) {
    let known = font.id.flatMap { borrowers[$0] }
    let borrows = known ?? borrowsImages(font)
    if let id = font.id { borrowers[id] = borrows }
    if known == nil {
      for resources in search.glyphResources(of: font) { placeImages(of: resources) }
    }
    if borrows { placeImages(of: scope.resources) }
  }

  /// Returns whether a font's glyphs use the resources of the content that shows text with it.
  private mutating func borrowsImages(_ font: PDFObject) -> Bool {
    guard font["/Subtype"]?.name == "/Type3", font["/Resources"] == nil else { return false }
    for glyph in search.entries("/CharProcs", of: font) where glyph.isStream {
      guard let content = take(glyph) else { return true }
      var scanner = ContentScanner(content)
      while let step = scanner.next() {
        switch step {
        case .paint, .state: return true
        default: continue
        }
      }
      if !scanner.isCertain { return true }
    }
    return false
  }

  // MARK: Images of any size

  private mutating func placeAnyhow(_ object: PDFObject?) {
    guard let object, object.isStream, let id = object.id else { return }
    if object.dictionary["/Subtype"]?.name == "/Image" { sizes.placeAnyhow(ImageSizes.Image(object, id)) }
    if let resources = object.dictionary["/Resources"] { placeImages(of: resources) }
  }

  private mutating func placeImages(of resources: PDFObject) {
    for object in search.images(from: resources) {
      if let id = object.id { sizes.placeAnyhow(ImageSizes.Image(object, id)) }
    }
  }
}
