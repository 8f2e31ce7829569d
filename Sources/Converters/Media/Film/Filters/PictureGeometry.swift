internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The filters that make pictures upright, with square pixels, and crop, rotate and scale them as requested.
struct PictureGeometry {
  /// The size of the result, in pixels.
  let width: Int
  let height: Int
  private var filters: [String] = []
  /// A remark on a size that the container does not support.
  private(set) var remark: String?

  init(
    _ stream: MediaStream, _ source: UnsafeMutablePointer<AVStream>, _ changes: FilmChanges, _ coding: PictureCoding
  ) throws(JobFailure) {
    try unsafe self.init(stream, source, changes, coding) { Self.scale(changes.size, $0) }
  }

  /// - Parameter scale: returns the factor by which a picture with the given sides is scaled, at most 1.
  init(
    _ stream: MediaStream, _ source: UnsafeMutablePointer<AVStream>, _ changes: FilmChanges, _ coding: PictureCoding,
    scale: ((Double, Double)) -> Double
  ) throws(JobFailure) {
    let parameters = unsafe source.pointee.codecpar.pointee
    if unsafe ![AV_FIELD_UNKNOWN, AV_FIELD_PROGRESSIVE].contains(parameters.field_order) {
      filters.append("bwdif=mode=send_frame:deint=interlaced")
    }
    let ratio =
      unsafe source.pointee.sample_aspect_ratio.num > 0
      ? source.pointee.sample_aspect_ratio : parameters.sample_aspect_ratio
    var sides = (Double(stream.width), Double(stream.height))
    guard stream.width > 0, stream.height > 0 else { throw JobFailure(.damaged, "has a picture without a size") }
    if ratio.num > 0, ratio.den > 0, ratio.num != ratio.den {
      sides.0 = max(1, min(sides.0 * Double(ratio.num) / Double(ratio.den), 16_384))
      filters.append("scale=\(Int(sides.0.rounded())):\(stream.height),setsar=1")
    }
    let turn = unsafe Self.rotation(of: source)
    if let filter = Self.turns[turn] {
      filters.append(filter)
      if turn != 180 { sides = (sides.1, sides.0) }
    }
    if let area = changes.area {
      guard Double(area.x + area.width) <= sides.0.rounded(), Double(area.y + area.height) <= sides.1.rounded() else {
        throw JobFailure(
          .unsupported, "has a picture of \(Int(sides.0))x\(Int(sides.1)), and the part is not inside of it")
      }
      filters.append("crop=\(area.width):\(area.height):\(area.x):\(area.y):exact=1")
      sides = (Double(area.width), Double(area.height))
    }
    if let turn = changes.turn, let filter = Self.turns[turn.rawValue] {
      filters.append(filter)
      if turn != .half { sides = (sides.1, sides.0) }
    }
    if changes.isFlipped { filters.append("vflip") }
    if changes.isMirrored { filters.append("hflip") }
    var scale = scale(sides)
    let most = min(Double(coding.most.width) / sides.0, Double(coding.most.height) / sides.1)
    if scale > most {
      scale = most
      remark = "a picture of at most \(coding.most.width)x\(coding.most.height)"
    }
    let bounds = Self.bounds(changes.size)
    let block = scale == 1 && coding.takesOddSides ? 1 : coding.block
    func side(_ length: Double, _ bound: Int?) -> Int {
      let scaled = length * scale
      let most = min(Double(bound ?? .max), scale < 1 ? .infinity : length.rounded())
      let nearest = (scaled / Double(block)).rounded()
      let blocks = nearest * Double(block) > most ? (most / Double(block)).rounded(.down) : nearest
      return max(block, Int(blocks) * block)
    }
    width = side(sides.0, bounds.width)
    height = side(sides.1, bounds.height)
    // Crops an odd line, since scaling would blur all others.
    let whole = (Int(sides.0.rounded()), Int(sides.1.rounded()))
    if scale == 1, block <= 2, (width, height) != whole, width <= whole.0, height <= whole.1 {
      filters.append("crop=\(width):\(height):0:0:exact=1")
      let less = "a picture of \(width)x\(height), because the coding has no odd sizes"
      remark = [remark, less].compactMap(\.self).joined(separator: "; ")
    }
  }

  /// Returns the maximum sides that `size` permits, in pixels.
  private static func bounds(_ size: FilmChanges.Size?) -> (width: Int?, height: Int?) {
    switch size {
    case .height(let height): (nil, height)
    case .longestSide(let side): (side, side)
    case .within(let width, let height): (width, height)
    case nil: (nil, nil)
    }
  }

  private static func scale(_ size: FilmChanges.Size?, _ sides: (Double, Double)) -> Double {
    switch size {
    case .height(let height): min(1, Double(height) / sides.1)
    case .longestSide(let side): min(1, Double(side) / max(sides.0, sides.1))
    case .within(let width, let height): min(1, Double(width) / sides.0, Double(height) / sides.1)
    case nil: 1
    }
  }

  private static let turns = [90: "transpose=clock", 180: "hflip,vflip", 270: "transpose=cclock"]

  /// Returns the clockwise rotation that players apply to a stream's pictures, in degrees.
  static func rotation(of stream: UnsafeMutablePointer<AVStream>) -> Int {
    var size = 0
    guard let data = unsafe ffmedia_stream_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size), size >= 36 else {
      return 0
    }
    let angle = unsafe data.withMemoryRebound(to: Int32.self, capacity: 9) { unsafe av_display_rotation_get($0) }
    guard angle.isFinite else { return 0 }
    return (Int((-angle / 90).rounded()) * 90 % 360 + 360) % 360
  }

  /// Returns the chain of filters. Its output is in `pixelFormat`.
  func chain(_ colours: PictureColours, _ pixelFormat: String) -> [String] {
    filters + colours.toneFilters + [
      "scale=\(width):\(height):flags=bicubic\(colours.scaling)", "format=\(pixelFormat)",
    ]
  }
}
