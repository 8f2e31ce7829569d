internal import Bytes

/// The serialized form of checks, for other processes: the passed ranges, then the damages.
///
/// Numbers that are read back are untrusted and checked against bounds.
extension PartChecks {
  var image: [UInt8] {
    var bytes: [UInt8] = []
    // Excess ranges are dropped; their parts are checked again.
    let passed = passed.ranges.prefix(Self.most)
    bytes.append(littleEndian: UInt32(passed.count))
    for range in passed { bytes.append(range) }
    bytes.append(littleEndian: UInt32(damages.count))
    for damage in damages {
      bytes.append(damage.range)
      bytes += damage.fault.image
    }
    return bytes
  }

  /// Returns `nil` if the image is malformed.
  init?(image: [UInt8]) {
    var reader = ImageReader(image)
    guard let count = reader.count(atMost: Self.most) else { return nil }
    for _ in 0..<count {
      guard let range = reader.range() else { return nil }
      pass(range)
    }
    guard let count = reader.count(atMost: Self.most) else { return nil }
    for _ in 0..<count {
      guard let range = reader.range(), let fault = reader.fault() else { return nil }
      fail(range, fault)
    }
  }
}

extension FirstPassResult {
  var image: [UInt8] {
    let size = [UInt8](littleEndian: UInt64(bitPattern: size))
    return size + (fault.map { [1] + $0.image } ?? [0]) + checks.image
  }

  /// Returns `nil` if the image is malformed.
  init?(image: [UInt8]) {
    var reader = ImageReader(image)
    guard let size = reader.number(), Bounds.holds(size), let hasFault = reader.byte() else { return nil }
    var fault: Fault?
    if hasFault != 0 {
      guard let known = reader.fault() else { return nil }
      fault = known
    }
    guard let checks = PartChecks(image: reader.rest) else { return nil }
    self.init(size: size, fault: fault, checks: checks)
  }
}

extension Fault {
  /// The reason and the offset of damage.
  fileprivate var image: [UInt8] {
    let text = Array(reason.utf8.prefix(1000))
    return [UInt8](littleEndian: UInt64(bitPattern: offset ?? -1)) + [UInt8](littleEndian: UInt16(text.count)) + text
  }
}

extension [UInt8] {
  fileprivate mutating func append(_ range: Range<Int64>) {
    append(littleEndian: range.lowerBound)
    append(littleEndian: range.upperBound)
  }
}

private struct ImageReader {
  private var bytes: ArraySlice<UInt8>

  init(_ image: [UInt8]) { bytes = image[...] }

  var rest: [UInt8] { Array(bytes) }

  mutating func byte() -> UInt8? { bytes.popFirst() }

  mutating func number() -> Int64? {
    guard bytes.count >= 8 else { return nil }
    defer { bytes = bytes.dropFirst(8) }
    return Int64(littleEndianBytes: bytes.prefix(8))
  }

  mutating func count(atMost limit: Int) -> Int? {
    guard bytes.count >= 4 else { return nil }
    defer { bytes = bytes.dropFirst(4) }
    let count = Int(UInt32(littleEndianBytes: bytes.prefix(4)))
    return count <= limit ? count : nil
  }

  mutating func range() -> Range<Int64>? {
    guard let start = number(), let end = number(), Bounds.holds(start), Bounds.holds(end), start < end else {
      return nil
    }
    return start..<end
  }

  mutating func fault() -> Fault? {
    guard let offset = number(), bytes.count >= 2 else { return nil }
    let count = Int(UInt16(littleEndianBytes: bytes.prefix(2)))
    bytes = bytes.dropFirst(2)
    guard count <= bytes.count else { return nil }
    defer { bytes = bytes.dropFirst(count) }
    let place = Bounds.holds(offset) ? offset : nil
    return Fault(.damaged, String(decoding: bytes.prefix(count), as: UTF8.self), atByte: place)
  }
}
