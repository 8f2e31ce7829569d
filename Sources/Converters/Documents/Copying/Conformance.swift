internal import Bytes
/// The conformance to PDF/A and PDF/UA that a document claims in its metadata (ISO 19005, ISO 14289).
struct Conformance {
  /// A property in the metadata, as an attribute or as an element.
  private struct Claim {
    let value: Range<Int>
    /// The attribute or the element.
    let whole: Range<Int>
  }

  /// The part of ISO 19005. Nil if the document does not claim to be PDF/A.
  let part: Int?
  /// The metadata, decoded.
  private let bytes: [UInt8]

  /// The maximum size of metadata that are searched, in bytes.
  private static let largest = 1 << 24

  /// Returns `nil` if the document has no readable metadata.
  init?(of catalog: PDFObject) {
    guard let metadata = catalog["/Metadata"], metadata.isStream,
      let bytes = metadata.plainData(atMost: Self.largest)
    else { return nil }
    self.bytes = bytes
    part = Self.claim("pdfaid:part", in: bytes).flatMap { Int(String(decoding: bytes[$0.value], as: UTF8.self)) }
  }

  /// Whether objects may be packed into object streams. PDF/A-1 is based on PDF 1.4, which has none.
  var allowsPacking: Bool { part != 1 }

  /// The metadata for a copy without the document's structure. Nil if they claim nothing that requires it.
  ///
  /// Level A becomes level B, whose rules are a subset. The claim of PDF/UA is removed.
  var withoutStructure: [UInt8]? {
    var changed = bytes
    if let level = Self.claim("pdfaid:conformance", in: bytes)?.value, bytes[level].elementsEqual([0x41]) {
      changed[level.lowerBound] = 0x42
    }
    // Blank instead, so that other offsets stay valid.
    while let claim = Self.claim("pdfuaid:part", in: changed) {
      changed.replaceSubrange(claim.whole, with: repeatElement(0x20, count: claim.whole.count))
    }
    return changed == bytes ? nil : changed
  }

  private static func claim(_ name: StaticString, in bytes: [UInt8]) -> Claim? {
    let name = Array(name.description.utf8)
    var at = 0
    while at <= bytes.count - name.count, let place = bytes[at...].firstOccurrence(of: name) {
      at = place.upperBound
      guard let start = bytes[at...].firstIndex(where: { $0 > 0x20 && $0 != 0x3D }) else { return nil }
      // An element's text ends with the next tag, an attribute's value with the same quotation mark.
      let isElement = bytes[start] == 0x3E
      guard isElement || [0x22, 0x27].contains(bytes[start]),
        let end = bytes[(start + 1)...].firstIndex(of: isElement ? 0x3C : bytes[start])
      else { continue }
      let text = bytes[(start + 1)..<end]
      let first = text.firstIndex { $0 > 0x20 } ?? end
      let value = first..<(text.lastIndex { $0 > 0x20 }.map { $0 + 1 } ?? first)
      if !isElement { return Claim(value: value, whole: place.lowerBound..<(end + 1)) }
      guard place.lowerBound > 0, let last = bytes[end...].firstIndex(of: 0x3E) else { continue }
      return Claim(value: value, whole: (place.lowerBound - 1)..<(last + 1))
    }
    return nil
  }
}
