/// The largest painted size of each image.
struct ImageSizes {
  /// A size in points. Infinite if an image may be painted at any size.
  struct Extent {
    var width = 0.0
    var height = 0.0
  }

  /// An image and its masks.
  struct Image {
    let id: PDFObject.ID
    let softMask: PDFObject.ID?
    let mask: PDFObject.ID?

    init(_ object: PDFObject, _ id: PDFObject.ID) {
      let dictionary = object.dictionary
      self.id = id
      softMask = dictionary["/SMask"]?.id
      mask = dictionary["/Mask"].flatMap { $0.isStream ? $0.id : nil }
    }
  }

  private(set) var extents: [PDFObject.ID: Extent] = [:]
  /// Images used as soft masks of other images.
  private(set) var softMasks: Set<PDFObject.ID> = []

  /// Records an image painted with a matrix. Returns `false` if the matrix yields no finite size.
  mutating func place(_ image: Image, _ matrix: Matrix) -> Bool {
    guard let extent = matrix.extent else { return false }
    place(image, extent)
    return true
  }

  mutating func placeAnyhow(_ image: Image) { place(image, (.infinity, .infinity)) }

  private mutating func place(_ image: Image, _ extent: (width: Double, height: Double)) {
    note(image.id, extent)
    if let mask = image.softMask {
      softMasks.insert(mask)
      note(mask, extent)
    }
    if let mask = image.mask { note(mask, extent) }
  }

  private mutating func note(_ id: PDFObject.ID, _ extent: (width: Double, height: Double)) {
    let known = extents[id] ?? Extent()
    extents[id] = Extent(width: max(known.width, extent.width), height: max(known.height, extent.height))
  }
}
