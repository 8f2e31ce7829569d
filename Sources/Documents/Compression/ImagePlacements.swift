internal import JobFiles

/// How large each image of a document is painted, at its largest, wherever that is: on pages, in forms, patterns, soft masks
/// and the looks of annotations.
struct ImagePlacements {
  /// In points.
  struct Extent {
    var width = 0.0
    var height = 0.0
  }

  private struct Visit: Hashable {
    let id: PDFObject.ID
    let matrix: Matrix
  }

  private(set) var extents: [PDFObject.ID: Extent] = [:]
  /// What makes other images transparent.
  private(set) var softMasks: Set<PDFObject.ID> = []
  /// False where something could not be read or would take too long: then an image may be painted larger than is known.
  private(set) var isComplete = true

  private var visits: Set<Visit> = []
  /// Whether images may be painted by what has these resources.
  private var paintsImages: [PDFObject.ID: Bool] = [:]
  private var budget = ImagePlacements.mostContent

  /// Of content that is looked through, in bytes; what is painted in several sizes is looked through each time.
  private static let mostContent = 1 << 28
  private static let deepest = 24
  private static let mostVisits = 1 << 18

  init(on tree: inout PageTree, of file: PDFFile) throws(JobFailure) {
    for index in 0..<(try tree.count()) {
      guard let page = try tree.page(at: index) else { break }
      let object = file.object(page.id)
      let unit = object["/UserUnit"]?.number ?? 1
      let matrix = Matrix(a: unit, d: unit)
      if let resources = object.inherited("/Resources"), paints(resources, 0) {
        let contents = object["/Contents"]
        var content: [UInt8] = []
        for part in contents.map({ $0.isArray ? $0.items : [$0] }) ?? [] {
          // A part that is missing is an empty one.
          guard part.isStream else { continue }
          content += (take(part) ?? []) + [0x0A]
        }
        walk(content, resources, matrix, depth: 0)
      }
      for annotation in object["/Annots"]?.items ?? [] { walk(annotation, on: matrix) }
      file.releaseObjects()
      file.forgetErrors()
    }
  }

  /// A stream's content, if there is still time for it.
  private mutating func take(_ stream: PDFObject) -> [UInt8]? {
    guard budget > 0, let content = stream.plainData(atMost: budget) else {
      isComplete = false
      return nil
    }
    budget -= content.count + 64
    return content
  }

  // MARK: Whether to look

  private mutating func paints(_ resources: PDFObject, _ depth: Int) -> Bool {
    if let id = resources.id {
      if let known = paintsImages[id] { return known }
      paintsImages[id] = false
      let result = paintsAnew(resources, depth)
      paintsImages[id] = result
      return result
    }
    return paintsAnew(resources, depth)
  }

  private mutating func paintsAnew(_ resources: PDFObject, _ depth: Int) -> Bool {
    guard depth < Self.deepest else { return true }
    let states = resources["/ExtGState"].map { states in states.keys.compactMap { states[$0]?["/SMask"]?["/G"] } } ?? []
    let forms = ["/XObject", "/Pattern"].flatMap { key in
      resources[key].map { objects in objects.keys.compactMap { objects[$0] } } ?? []
    }
    for object in forms + states where object.isStream {
      let dictionary = object.dictionary
      if dictionary["/Subtype"]?.name == "/Image" { return true }
      if let id = object.id {
        if let known = paintsImages[id] {
          if known { return true }
          continue
        }
        paintsImages[id] = false
        // A form without resources has those of the page, which are being looked at.
        let result = dictionary["/Resources"].map { paints($0, depth + 1) } ?? false
        paintsImages[id] = result
        if result { return true }
      }
    }
    return false
  }

  // MARK: Looking

  private mutating func walk(_ content: [UInt8], _ resources: PDFObject, _ start: Matrix, depth: Int) {
    for key in resources["/Pattern"]?.keys ?? [] {
      if let pattern = resources["/Pattern"]?[key], pattern.isStream { enter(pattern, start, resources, depth) }
    }
    let (objects, states) = (resources["/XObject"], resources["/ExtGState"])
    var known: [String: PDFObject?] = [:]
    var stack: [Matrix] = []
    var matrix = start
    var scanner = ContentScanner(content)
    while let step = scanner.next() {
      switch step {
      case .save: if stack.count < 1 << 16 { stack.append(matrix) }
      case .restore: matrix = stack.popLast() ?? matrix
      case .transform(let next): matrix = next.then(matrix)
      case .paint(let name):
        budget -= 64
        let object = known[name] ?? objects?[name]
        known[name] = .some(object)
        guard let object, object.isStream else { continue }
        if object.dictionary["/Subtype"]?.name == "/Image" {
          place(object, matrix)
        } else {
          enter(object, matrix, resources, depth)
        }
      case .state(let name):
        budget -= 64
        if let form = states?[name]?["/SMask"]?["/G"], form.isStream { enter(form, matrix, resources, depth) }
      }
    }
  }

  /// A form or pattern, painted in a place.
  private mutating func enter(_ form: PDFObject, _ matrix: Matrix, _ inherited: PDFObject?, _ depth: Int) {
    guard let id = form.id else { return }
    // What differs by less is of one size to the eye.
    let rough = Matrix(
      a: (matrix.a * 1024).rounded(), b: (matrix.b * 1024).rounded(), c: (matrix.c * 1024).rounded(),
      d: (matrix.d * 1024).rounded())
    if visits.contains(Visit(id: id, matrix: rough)) { return }
    guard depth < Self.deepest, visits.count < Self.mostVisits else {
      isComplete = false
      return
    }
    visits.insert(Visit(id: id, matrix: rough))
    let dictionary = form.dictionary
    guard let resources = dictionary["/Resources"] ?? inherited, paints(resources, depth), let content = take(form)
    else {
      return
    }
    walk(content, resources, (Matrix(dictionary["/Matrix"]) ?? Matrix()).then(matrix), depth: depth + 1)
  }

  private mutating func walk(_ annotation: PDFObject, on page: Matrix) {
    guard let looks = annotation["/AP"] else { return }
    for key in looks.keys {
      guard let look = looks[key] else { continue }
      for form in look.isStream ? [look] : look.keys.compactMap({ look[$0] }) where form.isStream {
        let own = Matrix(form.dictionary["/Matrix"]) ?? Matrix()
        if let matrix = Matrix(from: form.dictionary["/BBox"], by: own, to: annotation["/Rect"]) {
          enter(form, matrix.then(page), nil, 0)
        }
      }
    }
  }

  private mutating func place(_ image: PDFObject, _ matrix: Matrix) {
    guard let extent = matrix.extent, let id = image.id else {
      isComplete = false
      return
    }
    note(id, extent)
    let dictionary = image.dictionary
    if let mask = dictionary["/SMask"]?.id {
      softMasks.insert(mask)
      note(mask, extent)
    }
    if let mask = dictionary["/Mask"], mask.isStream, let id = mask.id { note(id, extent) }
  }

  private mutating func note(_ id: PDFObject.ID, _ extent: (width: Double, height: Double)) {
    let known = extents[id] ?? Extent()
    extents[id] = Extent(width: max(known.width, extent.width), height: max(known.height, extent.height))
  }
}
