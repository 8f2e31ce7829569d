internal import Catalogue
internal import WorkerKit

/// An image of an Apple icon in the encoding of older systems: run-length encoded planes, one per colour, and a
/// separate mask.
struct AppleIcon {
  private let side: Int
  private let planes: [[UInt8]]

  /// The side of an icon, in pixels, by name. `ic04` and `ic05` have four channels, alpha first; the others have three.
  static let sides = ["is32": 16, "il32": 32, "ih32": 48, "it32": 128, "ic04": 16, "ic05": 32]
  /// The side of an icon that is a file of another format, in pixels, by name.
  static let sidesOfFiles = [
    "icp4": 16, "icp5": 32, "icp6": 64, "ic07": 128, "ic08": 256, "ic09": 512, "ic10": 1024, "ic11": 32, "ic12": 64,
    "ic13": 256, "ic14": 512,
  ]
  /// The names of the alpha masks of images with three colours.
  static let masks = ["is32": "s8mk", "il32": "l8mk", "ih32": "h8mk", "it32": "t8mk"]
  static let failure = JobFailure(.unsupported, "is an icon of an unknown kind")

  init(_ name: String, _ content: [UInt8], opacity: [UInt8]?) throws(JobFailure) {
    guard let side = AppleIcon.sides[name] else { throw AppleIcon.failure }
    self.side = side
    let hasOwnOpacity = content.starts(with: "ARGB".utf8)
    // The largest one has four bytes before its pixels.
    let packed = content.dropFirst(hasOwnOpacity || name == "it32" ? 4 : 0)
    let bytes = try AppleIcon.unpacked(packed, (hasOwnOpacity ? 4 : 3) * side * side)
    var planes = stride(from: 0, to: bytes.count, by: side * side).map { Array(bytes[$0..<$0 + side * side]) }
    if hasOwnOpacity {
      planes.append(planes.removeFirst())
    } else if let opacity, opacity.count >= side * side {
      planes.append(opacity)
    }
    self.planes = planes
  }

  /// Decodes run-length encoding. A byte below 128 precedes that number of bytes plus 1; any other precedes a byte to
  /// repeat, and is the count plus 125.
  private static func unpacked(_ packed: ArraySlice<UInt8>, _ count: Int) throws(JobFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 256)
    var rest = packed
    while bytes.count < count, let lead = rest.popFirst() {
      if lead < 128 {
        bytes += rest.prefix(Int(lead) + 1)
        rest = rest.dropFirst(Int(lead) + 1)
      } else if let value = rest.popFirst() {
        bytes += Array(repeating: value, count: Int(lead) - 125)
      }
    }
    guard bytes.count >= count else { throw JobFailure(.damaged, "ends before its last pixel") }
    return Array(bytes.prefix(count))
  }

  func picture() throws(JobFailure) -> VipsPicture {
    let pixels = (0..<side * side).flatMap { place in planes.map { $0[place] } }
    return try unsafe VipsPicture(copying: pixels.span.bytes, width: side, height: side, bands: planes.count)
  }
}
