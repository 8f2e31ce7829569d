internal import Locks

/// A text decoded from a candidate character set.
struct DetectedText {
  private let scalars: [UInt32]
  /// Whether each character is in the first level of a set of ideographs.
  private let isCommon: [Bool]
  /// The number of invalid bytes.
  private var faults = 0

  /// The cost of an invalid byte, in bits.
  private static let faultCost = 40

  init(_ piece: ArraySlice<UInt8>, in charset: String) {
    let sets = DecodingTables.shared
    if let table = sets.table(of: charset) {
      scalars = piece.map { $0 < 0x80 ? UInt32($0) : table[Int($0) - 0x80] }
      isCommon = []
      faults = scalars.count { $0 == 0xfffd }
      return
    }
    let text = sets.text(of: piece, in: charset)
    scalars = text.map(\.scalar)
    isCommon = text.map(\.isCommon)
    faults = scalars.contains(0xfffd) ? 1 : 0
  }

  func cost(in language: Language) -> Int {
    let likelihood = TextLikelihood(language: language)
    return faults * Self.faultCost
      + likelihood.cost(of: scalars) { place in isCommon.indices.contains(place) && isCommon[place] }
  }
}

/// The decoding tables of the candidate sets. Each is created once with iconv.
private final class DecodingTables: Sendable {
  static let shared = DecodingTables()
  private let converters = UnfairLock<[String: CharsetConverter]>([:])
  private let tables = UnfairLock<[String: [UInt32]]>([:])

  /// Returns the upper half of a single-byte set. Invalid bytes are U+FFFD. Returns `nil` for other sets.
  func table(of charset: String) -> [UInt32]? {
    if WideCharset.contains(charset) { return nil }
    return tables.withLock { tables in
      if let known = tables[charset] { return known }
      let converter = CharsetConverter(charset)
      let table = (0x80...0xff as ClosedRange<UInt8>).map { byte in
        converter?.utf8([byte]).flatMap { String(decoding: $0, as: UTF8.self).unicodeScalars.first?.value } ?? 0xfffd
      }
      tables[charset] = table
      return table
    }
  }

  func text(of piece: ArraySlice<UInt8>, in charset: String) -> [(scalar: UInt32, isCommon: Bool)] {
    converters.withLock { converters in
      let known = converters[charset] ?? CharsetConverter(charset)
      converters[charset] = known
      guard let known else { return [(0xfffd, false)] }
      var result: [(scalar: UInt32, isCommon: Bool)] = []
      var index = piece.startIndex
      while index < piece.endIndex {
        let byte = piece[index]
        let count = WideCharset.count(piece[index...], charset)
        let bytes = piece[index..<min(piece.endIndex, index + count)]
        index += count
        if byte < 0x80 {
          result.append((UInt32(byte), false))
          continue
        }
        let text = known.utf8(bytes).flatMap { String(decoding: $0, as: UTF8.self).unicodeScalars.first?.value }
        result.append((text ?? 0xfffd, WideCharset.isCommon(bytes, charset)))
      }
      return result
    }
  }
}
