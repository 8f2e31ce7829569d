internal import Bytes
internal import CVips
internal import Catalogue
internal import Pictures
internal import Pixels
internal import WorkerKit

/// The composed frames of an animated PNG (PNG, third edition, 11.3.6).
struct MovingPNG {
  private struct Frame {
    let width: Int
    let height: Int
    let left: Int
    let top: Int
    /// The delay, in milliseconds.
    let delay: Int32
    let clearing: Int
    let isBlended: Bool
    var data: [Range<Int>] = []
  }

  private let input: JobInput
  private let width: Int
  private let height: Int
  private let plays: Int
  /// The chunks before the pixels, which all frames share.
  private var shared: [(name: String, content: Range<Int>)] = []
  private var frames: [Frame] = []

  private static let most = 4096

  /// Returns `nil` if the file is not an animated PNG.
  init?(_ input: JobInput) throws(JobFailure) {
    guard input.starts(with: PNGChunks.signature) else { return nil }
    let bytes = InputReader(input, isBigEndian: true)
    self.input = input
    (width, height) = (bytes.word(16, 4), bytes.word(20, 4))
    var plays: Int?
    var shared: [(name: String, content: Range<Int>)] = []
    var frames: [Frame] = []
    var hasPixels = false
    let isWhole = try unsafe PNGChunks.forEach(of: input.bytes) { (name, content) throws(JobFailure) in
      let start = content.lowerBound
      switch name {
      case "acTL": plays = bytes.word(start + 4, 4)
      case "fcTL": frames.append(MovingPNG.frame(bytes, start))
      case "IDAT":
        hasPixels = true
        // The first picture may be one for programs without animation.
        if !frames.isEmpty { frames[frames.count - 1].data.append(content) }
      case "fdAT":
        guard !frames.isEmpty, content.count > 4 else { throw MovingPNG.failure }
        frames[frames.count - 1].data.append(start + 4..<content.upperBound)
      default: if !hasPixels, name != "IHDR" { shared.append((name, content)) }
      }
      guard frames.count <= MovingPNG.most else {
        throw JobFailure(.limit, "has more than \(MovingPNG.most) pictures, which is too many")
      }
      // PNGs without animation are not read here, whether complete or not.
      return plays != nil || !hasPixels
    }
    guard let plays else { return nil }
    guard isWhole else { throw JobFailure(.damaged, "ends before its last picture") }
    (self.plays, self.shared, self.frames) = (plays, shared, frames)
    for frame in frames {
      guard frame.width > 0, frame.height > 0, frame.left <= width - frame.width, frame.top <= height - frame.height
      else { throw MovingPNG.failure }
    }
    guard width > 0, height > 0, !frames.isEmpty else { throw MovingPNG.failure }
    guard height <= PixelBlock.limit, width <= PixelBlock.limit / 4 / height / frames.count else {
      throw JobFailure(.limit, "has \(frames.count) pictures of \(width) × \(height) pixels, which is too much")
    }
  }

  private static let failure = JobFailure(.damaged, "has invalid pictures")

  private static func frame(_ bytes: InputReader, _ at: Int) -> Frame {
    let (part, whole) = (bytes.word(at + 20, 2), bytes.word(at + 22, 2))
    return Frame(
      width: bytes.word(at + 4, 4), height: bytes.word(at + 8, 4), left: bytes.word(at + 12, 4),
      top: bytes.word(at + 16, 4), delay: Int32(1000 * part / (whole == 0 ? 100 : whole)),
      clearing: bytes.word(at + 24, 1), isBlended: bytes.word(at + 25, 1) == 1)
  }

  var count: Int { frames.count }

  /// Returns all frames, one below the other. Returns a single frame if `only` is given.
  func picture(_ only: Int?) throws(JobFailure) -> VipsPicture {
    let size = 4 * width * height
    var canvas = [UInt8](repeating: 0, count: size)
    var all: [UInt8] = []
    for (index, frame) in frames.prefix(only ?? frames.count).enumerated() {
      let before = frame.clearing == 2 ? canvas : []
      try draw(frame, on: &canvas)
      if only == nil || only == index + 1 { all += canvas }
      if frame.clearing == 2 {
        canvas = index == 0 ? [UInt8](repeating: 0, count: size) : before
      } else if frame.clearing == 1 {
        for y in frame.top..<frame.top + frame.height {
          let start = 4 * (y * width + frame.left)
          canvas.replaceSubrange(start..<start + 4 * frame.width, with: repeatElement(0, count: 4 * frame.width))
        }
      }
    }
    let picture = try unsafe VipsPicture(
      copying: all.span.bytes, width: width, height: all.count / (4 * width), bands: 4)
    guard only == nil, frames.count > 1 else { return picture }
    let delays = frames.map(\.delay)
    unsafe vips_image_set_int(picture.pointer, "page-height", Int32(height))
    unsafe vips_image_set_int(picture.pointer, "loop", Int32(truncatingIfNeeded: plays))
    unsafe vips_image_set_array_int(picture.pointer, "delay", delays, Int32(delays.count))
    return picture
  }

  private func draw(_ frame: Frame, on canvas: inout [UInt8]) throws(JobFailure) {
    let pixels = try pixels(of: frame)
    for y in 0..<frame.height {
      for x in 0..<frame.width {
        let source = 4 * (y * frame.width + x)
        let target = 4 * ((frame.top + y) * width + frame.left + x)
        let (above, below) = (Int(pixels[source + 3]), Int(canvas[target + 3]))
        guard frame.isBlended, above < 255, below > 0 else {
          if !frame.isBlended || above > 0 {
            for band in 0..<4 { canvas[target + band] = pixels[source + band] }
          }
          continue
        }
        // Alpha in units of 1/255.
        let rest = below * (255 - above)
        let both = 255 * above + rest
        for band in 0..<3 {
          let sum = 255 * above * Int(pixels[source + band]) + rest * Int(canvas[target + band])
          canvas[target + band] = UInt8((sum + both / 2) / both)
        }
        canvas[target + 3] = UInt8((both + 127) / 255)
      }
    }
  }

  /// Returns a frame's own pixels, four bytes each.
  private func pixels(of frame: Frame) throws(JobFailure) -> [UInt8] {
    func bytes(_ range: Range<Int>) -> [UInt8] { unsafe Array(input.bytes[range]) }
    let sides = [UInt8](bigEndian: frame.width, count: 4) + [UInt8](bigEndian: frame.height, count: 4)
    var file = PNGChunks.signature + PNGChunks.chunk("IHDR", sides + bytes(24..<29))
    for (name, content) in shared where name != "acTL" { file += PNGChunks.chunk(name, bytes(content)) }
    for part in frame.data { file += PNGChunks.chunk("IDAT", bytes(part)) }
    file += PNGChunks.chunk("IEND", [])
    let picture = try ImageSource(file: file).picture.inColours(of: .qoi, gray: false)
    let opaque = picture.hasAlpha ? picture : try picture.applying("bandjoin_const", ["c": "255"])
    let block = try opaque.pixels()
    guard block.layout.bands == 4, block.width == frame.width, block.height == frame.height else {
      throw MovingPNG.failure
    }
    return block.bytes
  }
}
