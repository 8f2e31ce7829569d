internal import Bytes

/// The records of an extended header (POSIX.1-2001): `25 path=a name beyond limits\n`.
struct PaxAttributes {
  private(set) var values: [String: ArraySlice<UInt8>] = [:]
  /// The areas of a sparse file in version 0.0, from repeated records.
  private(set) var sparseAreas: [TarSparseMap.Area] = []

  /// The maximum size of a header that is read, in bytes.
  static let longest: Int64 = 1 << 20

  init() {}

  /// Adds the records of a header. A malformed record ends the header.
  mutating func add(_ bytes: [UInt8]) {
    var rest = bytes[...]
    var areaStart: Int64?
    while let space = rest.prefix(21).firstIndex(of: 0x20), let count = Self.decimal(rest[..<space]),
      count > Int64(space - rest.startIndex), count <= Int64(rest.count)
    {
      let record = rest[(space + 1)..<(rest.startIndex + Int(count))]
      rest = rest.dropFirst(Int(count))
      guard record.last == 0x0a, let equals = record.firstIndex(of: 0x3d) else { continue }
      let key = String(decoding: record[..<equals], as: UTF8.self)
      let value = record[(equals + 1)...].dropLast()
      switch key {
      case "GNU.sparse.offset": areaStart = Self.decimal(value)
      case "GNU.sparse.numbytes":
        if let start = areaStart.take(), let size = Self.decimal(value), sparseAreas.count < TarSparseMap.mostAreas {
          sparseAreas.append(TarSparseMap.Area(offset: start, count: size))
        }
      // An empty value cancels a global record.
      default: values[key] = value.isEmpty ? nil : value
      }
    }
  }

  /// Returns these attributes, and those of `others` that they do not contain.
  func over(_ others: PaxAttributes) -> PaxAttributes {
    if others.values.isEmpty { return self }
    var all = self
    all.values.merge(others.values) { own, _ in own }
    return all
  }

  var isEmpty: Bool { values.isEmpty && sparseAreas.isEmpty }

  var path: ArraySlice<UInt8>? { values["GNU.sparse.name"] ?? values["path"] }
  var linkTarget: ArraySlice<UInt8>? { values["linkpath"] }
  /// The size of the stored data, in bytes.
  var dataSize: Int64? { size("size") }
  /// The size of a sparse file including its holes, in bytes. Nil if the file is not sparse.
  var sparseSize: Int64? { size("GNU.sparse.realsize") ?? size("GNU.sparse.size") }
  /// Whether the map of a sparse file precedes its data, as in version 1.0.
  var hasSparseMapInData: Bool { size("GNU.sparse.major") == 1 }

  /// The map of version 0.1, or else the records of version 0.0.
  var sparseMap: [TarSparseMap.Area] {
    guard let map = values["GNU.sparse.map"] else { return sparseAreas }
    let numbers = map.split(separator: 0x2c, maxSplits: 2 * TarSparseMap.mostAreas).map { Self.decimal($0) ?? -1 }
    return stride(from: 0, to: numbers.count - 1, by: 2).map {
      TarSparseMap.Area(offset: numbers[$0], count: numbers[$0 + 1])
    }
  }

  private func size(_ key: String) -> Int64? { values[key].flatMap(Self.decimal) }

  /// The modification time: seconds since 1970 with a fraction, possibly negative.
  var modified: Timestamp? {
    guard var text = values["mtime"] else { return nil }
    let isNegative = text.first == 0x2d
    if isNegative { text = text.dropFirst() }
    let dot = text.firstIndex(of: 0x2e) ?? text.endIndex
    guard let whole = Self.decimal(text[..<dot]) else { return nil }
    var nanoseconds: Int32 = 0
    var unit: Int32 = 100_000_000
    for digit in text[dot...].dropFirst().prefix(9) {
      guard (0x30...0x39).contains(digit) else { return nil }
      nanoseconds += Int32(digit - 0x30) * unit
      unit /= 10
    }
    let seconds = Bounds.time(whole)
    if !isNegative { return Timestamp(seconds: seconds, nanoseconds: nanoseconds) }
    // The nanoseconds count forwards.
    return nanoseconds == 0
      ? Timestamp(seconds: -seconds) : Timestamp(seconds: -seconds - 1, nanoseconds: 1_000_000_000 - nanoseconds)
  }

  /// The extended attributes of the user namespace, as GNU tar and star record them.
  var extendedAttributes: [(name: FileName, value: [UInt8])] {
    values.compactMap { key, value in
      let prefix = "SCHILY.xattr."
      guard key.hasPrefix(prefix + "user.") else { return nil }
      return (FileName(String(key.dropFirst(prefix.count))), Array(value))
    }
  }

  var hasExtendedAttributes: Bool { values.keys.contains { $0.hasPrefix("SCHILY.xattr.user.") } }

  /// Returns the value of up to eighteen decimal digits. Returns `nil` for other text.
  static func decimal(_ text: ArraySlice<UInt8>) -> Int64? {
    guard !text.isEmpty, text.count <= 18, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }
}
