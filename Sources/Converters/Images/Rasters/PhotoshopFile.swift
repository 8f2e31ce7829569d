internal import Bytes
internal import Catalogue
internal import Pictures
internal import WorkerKit

/// The merged picture of a Photoshop file (Adobe Photoshop File Formats Specification, "Image Data Section"). It is
/// rewritten in a form that libavcodec reads: with unpacked runs, and only the planes of colours and alpha.
struct PhotoshopFile {
  private let bytes: InputReader
  private let input: JobInput
  private let channels: Int
  private let wanted: Int
  private let row: Int
  private let height: Int
  /// The offset of the planes' compression method.
  private let place: Int

  /// The number of colour planes by mode: bitmap, gray, palette, RGB, CMYK, duotone.
  private static let colours = [0: 1, 1: 1, 2: 1, 3: 3, 4: 4, 8: 1]

  /// Returns `nil` if the file is of another format.
  init?(_ input: JobInput) throws(JobFailure) {
    let bytes = InputReader(input, isBigEndian: true)
    guard input.starts(with: Format.psd.head) else { return nil }
    channels = bytes.word(12, 2)
    height = bytes.word(14, 4)
    let (width, depth, mode) = (bytes.word(18, 4), bytes.word(22, 2), bytes.word(24, 2))
    guard let colours = Self.colours[mode], [1, 8, 16].contains(depth), (1...56).contains(channels), channels >= colours
    else { throw JobFailure(.unsupported, "is a Photoshop file of an unknown kind") }
    row = (width * depth + 7) / 8
    guard width > 0, height > 0, height <= PixelBlock.limit, row <= PixelBlock.limit / channels / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    var at = 26
    var layers = 0
    for section in 0..<3 {
      let size = bytes.word(at, 4)
      guard size <= bytes.count - at - 4 else { throw JobFailure(.damaged, "ends before its picture") }
      // A negative number of layers means that the plane after the colours is alpha.
      if section == 2, size > 6 { layers = Int(Int16(truncatingIfNeeded: bytes.word(at + 8, 2))) }
      at += 4 + size
    }
    wanted = colours + (layers < 0 && channels > colours && colours != 4 ? 1 : 0)
    (self.bytes, self.input, place) = (bytes, input, at)
  }

  func pixels() throws(JobFailure) -> PixelBlock {
    let isPacked = bytes.word(place, 2) == 1
    guard isPacked || bytes.word(place, 2) == 0 else {
      throw JobFailure(.unsupported, "is a Photoshop file of an unknown kind")
    }
    var file = unsafe Array(input.bytes.prefix(place)) + [0, 0]
    file.replaceSubrange(12..<14, with: [0, UInt8(wanted)])
    file.reserveCapacity(file.count + wanted * row * height)
    guard isPacked else {
      let planes = wanted * row * height
      guard bytes.count - place - 2 >= planes else { throw JobFailure(.damaged, "ends before its last row") }
      unsafe file.append(contentsOf: input.bytes[(place + 2)..<(place + 2 + planes)])
      return try PictureCodec.psd.pixels(of: file)
    }
    var start = place + 2 + 2 * channels * height
    for line in 0..<wanted * height {
      let size = bytes.word(place + 2 + 2 * line, 2)
      guard size <= bytes.count - start else { throw JobFailure(.damaged, "ends before its last row") }
      let end = file.count + row
      unsafe file.append(packed: input.bytes[start..<(start + size)], upTo: end)
      guard file.count == end else { throw JobFailure(.damaged, "has a row that is too short") }
      start += size
    }
    return try PictureCodec.psd.pixels(of: file)
  }
}

extension [UInt8] {
  /// Appends bytes decoded from PackBits, up to `end`. A byte below 128 precedes that number of bytes plus 1. A byte
  /// above 128 precedes a byte to repeat, and is 257 minus the count. 128 is skipped.
  fileprivate mutating func append(packed: Slice<UnsafeRawBufferPointer>, upTo end: Int) {
    var rest = unsafe packed
    while count < end, let lead = unsafe rest.popFirst() {
      if lead < 128 {
        unsafe append(contentsOf: rest.prefix(Swift.min(Int(lead) + 1, end - count)))
        unsafe rest = rest.dropFirst(Int(lead) + 1)
      } else if lead > 128, let value = unsafe rest.popFirst() {
        append(contentsOf: repeatElement(value, count: Swift.min(257 - Int(lead), end - count)))
      }
    }
  }
}
