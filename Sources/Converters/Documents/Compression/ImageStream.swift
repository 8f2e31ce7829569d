internal import Pixels
internal import WorkerKit

/// The properties of an image's samples, from its dictionary (PDF 32000-1, 8.9.5).
struct ImageStream {
  enum Colours {
    /// One number per component, where similar numbers mean similar colours. 1, 3 or 4 components.
    case components(Int)
    /// Indexes into a table whose entries have this many bytes.
    case table([UInt8], components: Int)
    /// Colours that are not processed here.
    case other
  }

  let object: PDFObject
  let width: Int
  let height: Int
  /// The number of bits per component.
  let bits: Int
  let colours: Colours
  /// Whether the image is a stencil mask.
  let isStencil: Bool
  /// Whether the highest samples of a single component are the darkest, or the ones that a stencil paints.
  let isInkHigh: Bool
  /// The last filter and its parameters.
  let filter: String?
  let parameters: PDFObject?

  /// Returns `nil` for an invalid image, and for one that must stay lossless.
  init?(_ object: PDFObject) {
    let dictionary = object.dictionary
    guard dictionary["/Subtype"]?.name == "/Image", let width = dictionary["/Width"]?.integer,
      let height = dictionary["/Height"]?.integer, width > 0, height > 0, width <= Samples.limit,
      height <= Samples.limit / width, dictionary["/F"] == nil
    else { return nil }
    // Colour key masks; colours preblended with a mask; masks inside the image data.
    if dictionary["/Mask"]?.isArray == true || Self.isMixed(dictionary) || dictionary["/SMaskInData"]?.integer ?? 0 != 0
    {
      return nil
    }
    let last = object.filters.last
    (filter, parameters) = (last?.name, last?.parameters)
    self.object = object
    self.width = width
    self.height = height
    isStencil = dictionary["/ImageMask"]?.isTrue ?? false
    bits =
      isStencil
      ? 1 : dictionary["/BitsPerComponent"]?.integer ?? (filter == "/JPXDecode" || filter == "/DCTDecode" ? 8 : 1)
    // Readers reject other stencils.
    if isStencil, dictionary["/BitsPerComponent"]?.integer ?? 1 != 1 { return nil }
    guard [1, 2, 4, 8, 16].contains(bits) else { return nil }
    colours = isStencil ? .components(1) : Self.colours(dictionary["/ColorSpace"], depth: 0)
    let decoding = dictionary["/Decode"]?.items.compactMap(\.number) ?? []
    let isTurned = decoding.count >= 2 && decoding[0] > decoding[1]
    // In Separation, a higher number means more ink.
    let space = isStencil ? nil : dictionary["/ColorSpace"]
    isInkHigh = isTurned != (space?.items.first?.name == "/Separation")
    if case .table = colours, let decode = dictionary["/Decode"],
      decode.items.map(\.number) != [0, Double(1 << bits - 1)]
    {
      return nil
    }
  }

  private static func isMixed(_ dictionary: PDFObject) -> Bool {
    dictionary["/Matte"] != nil || dictionary["/SMask"]?.dictionary["/Matte"] != nil
  }

  private static func colours(_ space: PDFObject?, depth: Int) -> Colours {
    guard let space, depth < 4 else { return .other }
    switch space.name ?? space.items.first?.name {
    case "/DeviceGray", "/CalGray", "/Separation": return .components(1)
    case "/DeviceRGB", "/CalRGB": return .components(3)
    case "/DeviceCMYK": return .components(4)
    case "/ICCBased":
      guard space.count > 1, let count = space[1].dictionary["/N"]?.integer, [1, 3, 4].contains(count) else {
        return .other
      }
      return .components(count)
    case "/Indexed":
      guard space.count == 4, case .components(let count) = colours(space[1], depth: depth + 1),
        let last = space[2].integer, (0..<256).contains(last),
        let table = space[3].string ?? space[3].plainData(atMost: 1 << 16), table.count >= (last + 1) * count
      else { return .other }
      // Indexes above the last entry mean the last entry, even if the table is longer.
      return .table(Array(table.prefix((last + 1) * count)), components: count)
    default: return .other
    }
  }

  /// Returns the base colour space of an image's colour table, as in the file. Returns `nil` if it has no table.
  static func base(of object: PDFObject) -> [UInt8]? {
    guard object.isStream, let space = object.dictionary["/ColorSpace"], space.count == 4,
      space[0].name == "/Indexed"
    else { return nil }
    return space[1].text
  }

  /// The number of components per pixel.
  var bands: Int? {
    switch colours {
    case .components(let count): count
    case .table: 1
    case .other: nil
    }
  }
}

extension ImageStream {
  /// Returns the samples of an image with only general filters, one byte each. Samples with fewer bits are scaled to
  /// the range of a byte unless they are table indexes.
  func plainSamples(_ raw: [UInt8]) -> Samples? {
    guard let bands, let plain = plainRows(raw) else { return nil }
    if bits == 8 { return Samples(width: width, height: height, bands: bands, bytes: plain) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(width * height * bands)
    let rowSize = (width * bands * bits + 7) / 8
    var factor = 1
    if case .components = colours, bits < 8 { factor = 255 / (1 << bits - 1) }
    for row in 0..<height {
      let start = row * rowSize
      for column in 0..<(width * bands) {
        if bits == 16 {
          bytes.append(plain[start + 2 * column])
        } else {
          let bit = column * bits
          let value = Int(plain[start + bit >> 3]) >> (8 - bits - bit & 7) & (1 << bits - 1)
          bytes.append(UInt8(truncatingIfNeeded: value * factor))
        }
      }
    }
    return Samples(width: width, height: height, bands: bands, bytes: bytes)
  }

  func plainBilevel(_ raw: [UInt8]) -> Bilevel? {
    guard bits == 1, bands == 1 else { return nil }
    return plainRows(raw).flatMap { Bilevel(width: width, height: height, bytes: $0) }
  }

  /// Returns the packed rows of samples, without excess bytes. Returns `nil` if there are too few.
  private func plainRows(_ raw: [UInt8]) -> [UInt8]? {
    guard let bands, width * bands * bits <= Samples.limit else { return nil }
    let rowSize = (width * bands * bits + 7) / 8
    guard rowSize <= Samples.limit / height else { return nil }
    let size = rowSize * height
    var rows: [UInt8]?
    if object.filters.count == 1, filter == "/FlateDecode" {
      let predictor = parameters?["/Predictor"]?.integer ?? 1
      let slack = size / 16 + 4096
      if predictor == 1 {
        rows = Deflate.expand(raw, atMost: size + slack)
      } else if predictor >= 10, parameters?["/Columns"]?.integer ?? 1 == width,
        parameters?["/Colors"]?.integer ?? 1 == bands, parameters?["/BitsPerComponent"]?.integer ?? 8 == bits
      {
        rows = Deflate.expand(raw, atMost: size + height + slack).flatMap {
          Prediction.removed(from: $0, rowSize: rowSize, rows: height, step: max(1, bands * bits / 8))
        }
      }
    }
    guard let rows = rows ?? object.plainData(atMost: size + size / 16 + 4096), rows.count >= size else { return nil }
    return rows.count == size ? rows : Array(rows[..<size])
  }
}
