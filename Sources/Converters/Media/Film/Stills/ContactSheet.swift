internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A sheet with sixteen pictures of a video, each with its time.
struct ContactSheet {
  private static let columns = 4
  private static let rows = 4
  /// The width of a picture and the gap between two, in pixels.
  private static let side = 320.0
  private static let gap = 6

  private let sheet: MediaFrame

  /// - Parameter width: the maximum width of the sheet, in pixels.
  static func make(_ reader: PictureReader, width: Int?) throws(JobFailure) -> MediaFrame {
    var sheet: ContactSheet?
    let cell = width.map { max(16, Double(($0 - gap * (columns + 1)) / columns)) } ?? side
    for index in 0..<columns * rows {
      let time = reader.duration * (Double(index) + 0.5) / Double(columns * rows)
      guard let picture = try reader.picture(at: time) else { continue }
      let small = try StillPicture.shaped(picture, reader.stream, of: reader.input, .png) { min(1, cell / $0.0) }
      if sheet == nil { sheet = try ContactSheet(of: small) }
      sheet?.put(small, index, label: label(time))
    }
    guard let sheet else { throw JobFailure(.damaged, "has no picture that can be decoded") }
    return sheet.sheet
  }

  private init(of picture: MediaFrame) throws(JobFailure) {
    sheet = try MediaFrame()
    let width = Int(unsafe picture.pointer.pointee.width)
    let height = Int(unsafe picture.pointer.pointee.height)
    unsafe sheet.pointer.pointee.width = Int32(Self.columns * (width + Self.gap) + Self.gap)
    unsafe sheet.pointer.pointee.height = Int32(Self.rows * (height + Self.gap) + Self.gap)
    unsafe sheet.pointer.pointee.format = AV_PIX_FMT_RGB24.rawValue
    try unsafe checked(av_frame_get_buffer(sheet.pointer, 0), "has too large a picture")
    let size = Int(unsafe sheet.pointer.pointee.linesize.0) * Int(unsafe sheet.pointer.pointee.height)
    unsafe sheet.pointer.pointee.data.0?.update(repeating: 0x20, count: size)
  }

  /// Draws a picture. Crops pictures that are larger than the first, in videos whose size changes.
  private func put(_ picture: MediaFrame, _ index: Int, label: [UInt8]) {
    guard let from = unsafe picture.pointer.pointee.data.0, let to = unsafe sheet.pointer.pointee.data.0 else { return }
    let cellWidth = (Int(unsafe sheet.pointer.pointee.width) - Self.gap) / Self.columns - Self.gap
    let cellHeight = (Int(unsafe sheet.pointer.pointee.height) - Self.gap) / Self.rows - Self.gap
    let left = Self.gap + index % Self.columns * (cellWidth + Self.gap)
    let top = Self.gap + index / Self.columns * (cellHeight + Self.gap)
    let stride = Int(unsafe sheet.pointer.pointee.linesize.0)
    let width = min(cellWidth, Int(unsafe picture.pointer.pointee.width))
    let height = min(cellHeight, Int(unsafe picture.pointer.pointee.height))
    for line in 0..<height {
      let source = unsafe from + line * Int(picture.pointer.pointee.linesize.0)
      unsafe (to + (top + line) * stride + left * 3).update(from: source, count: width * 3)
    }
    let scale = cellWidth >= 160 ? 2 : 1
    write(label, atX: left + 3 * scale, y: top + cellHeight - 10 * scale, scale)
  }

  /// Returns a time such as `01:02:03` as bytes of ASCII.
  private static func label(_ seconds: Double) -> [UInt8] {
    let whole = Int(seconds)
    let parts = [whole / 3600, whole / 60 % 60, whole % 60].map { String($0 + 100).suffix(2) }
    return Array("\(parts[0]):\(parts[1]):\(parts[2])".utf8)
  }

  /// Draws white text on black. `scale` is the size of a dot, in pixels.
  private func write(_ text: [UInt8], atX left: Int, y top: Int, _ scale: Int) {
    guard let pixels = unsafe sheet.pointer.pointee.data.0 else { return }
    let stride = Int(unsafe sheet.pointer.pointee.linesize.0)
    let (width, height) = (Int(unsafe sheet.pointer.pointee.width), Int(unsafe sheet.pointer.pointee.height))
    for y in -scale..<8 * scale {
      for x in -scale..<text.count * 6 * scale {
        guard top + y >= 0, left + x >= 0, top + y < height, left + x < width else { continue }
        var isSet = false
        if x >= 0, y >= 0, y < 7 * scale {
          let character = text[x / (6 * scale)]
          let column = x / scale % 6
          let glyph = Self.digits[Int(character) - 0x30]
          isSet = column < 5 && glyph[y / scale] >> UInt8(4 - column) & 1 == 1
        }
        for channel in 0..<3 { unsafe pixels[(top + y) * stride + (left + x) * 3 + channel] = isSet ? 0xff : 0 }
      }
    }
  }

  /// The glyphs from `0` to `:`, each with seven rows of five dots.
  private static let digits: [[UInt8]] = [
    [14, 17, 19, 21, 25, 17, 14], [4, 12, 4, 4, 4, 4, 14], [14, 17, 1, 2, 4, 8, 31], [31, 2, 4, 2, 1, 17, 14],
    [2, 6, 10, 18, 31, 2, 2], [31, 16, 30, 1, 1, 17, 14], [6, 8, 16, 30, 17, 17, 14], [31, 1, 2, 4, 8, 8, 8],
    [14, 17, 17, 14, 17, 17, 14], [14, 17, 17, 15, 1, 2, 12], [0, 4, 4, 0, 4, 4, 0],
  ]
}
