internal import Pixels
internal import WorkerKit

/// Finds smaller encodings for streams.
struct StreamCoder {
  let deflate: Deflate
  let images: ImageRecoder
  let placements: ImagePlacements

  /// The maximum size of a stream that is decompressed for recompression, in bytes.
  private static let largest = 1 << 28
  /// Filters for any kind of data.
  private static let general = ["/FlateDecode", "/LZWDecode", "/ASCII85Decode", "/ASCIIHexDecode", "/RunLengthDecode"]

  /// The properties that two images with equal bytes must share to be merged.
  struct Need: Hashable {
    let width: Double
    let height: Double
    let isSoftMask: Bool
  }

  func need(of id: PDFObject.ID) -> Need? {
    placements.sizes.extents[id].map {
      Need(width: $0.width, height: $0.height, isSoftMask: placements.sizes.softMasks.contains(id))
    }
  }

  /// Returns the stream to write: re-encoded if that is smaller, otherwise unchanged.
  ///
  /// - Parameters:
  ///   - dictionary: the text with the new object numbers, without `/Length`.
  ///   - base: `ImageStream.base(of:)` with the new object numbers.
  func code(
    _ object: PDFObject, _ id: PDFObject.ID, _ dictionary: [UInt8], base: [UInt8]?, _ data: [UInt8]
  ) -> (dictionary: [UInt8], data: [UInt8]) {
    if let image = ImageStream(object) {
      let extent = placements.isComplete ? placements.sizes.extents[id] : nil
      let recoding = images.recode(
        image, raw: data, extent: extent, isSoftMask: placements.sizes.softMasks.contains(id),
        base: base.flatMap { String(validating: $0, as: UTF8.self) })
      if let recoding {
        var keys = ImageRecoding.keys + recoding.entries.map(\.key)
        // It specifies the default, for the previous number of bits.
        if case .table = image.colours { keys.append("/Decode") }
        return (ObjectText(dictionary).replacing(keys, with: recoding.entries), recoding.data)
      }
    }
    return packed(object, dictionary, data) ?? (dictionary, data)
  }

  private func packed(
    _ object: PDFObject, _ dictionary: [UInt8], _ data: [UInt8]
  ) -> (dictionary: [UInt8], data: [UInt8])? {
    let own = object.dictionary
    let filters = object.filters
    // Data in an external file; metadata that programs without PDF support search for in clear text.
    if own["/F"] != nil || filters.isEmpty && own["/Type"]?.name == "/Metadata" { return nil }
    guard filters.allSatisfy({ Self.general.contains($0.name) }) else { return nil }
    if filters.count == 1, filters[0].name == "/FlateDecode" {
      guard let plain = Deflate.expand(data, atMost: Self.largest) else { return nil }
      let packed = deflate.compress(plain)
      return packed.count < data.count ? (dictionary, packed) : nil
    }
    guard let plain = filters.isEmpty ? data : object.plainData(atMost: Self.largest) else { return nil }
    let packed = deflate.compress(plain)
    let text = ObjectText(dictionary).replacing(["/Filter", "/DecodeParms"], with: [("/Filter", "/FlateDecode")])
    return packed.count + text.count < data.count + dictionary.count ? (text, packed) : nil
  }
}

extension ObjectText {
  /// Returns a dictionary's text with some keys removed and some entries added.
  fileprivate func replacing(_ keys: [String], with entries: [(key: String, value: String)]) -> [UInt8] {
    let rest = without(keys).bytes.dropLast(2)
    return rest + Array((entries.map { "\($0.key) \($0.value)" }.joined(separator: " ") + " >>").utf8)
  }
}
