internal import Bytes
internal import CVips
internal import Catalogue
internal import Pixels
internal import WorkerKit

/// An animated PNG (PNG, third edition, 11.3.6) with complete frames, or a PNG of a single picture.
struct MovingPNGFile: ImageEncoder {
  func bytes(of image: VipsPicture) throws(JobFailure) -> [UInt8] {
    guard image.frames > 1 else { return try ImageFile.png().bytes(of: image) }
    let (width, height) = (image.width, image.frameHeight)
    let all = try image.inMemory()
    let delays = image.delays
    var file = PNGChunks.signature
    var number = 0
    func next() -> [UInt8] {
      defer { number += 1 }
      return [UInt8](bigEndian: number, count: 4)
    }
    for index in 0..<image.frames {
      let frame = try all.applying(
        "crop", to: "input",
        ["left": "0", "top": "\(index * height)", "width": "\(width)", "height": "\(height)"])
      let png = try ImageFile.png().bytes(of: frame.removing { $0 == "page-height" })
      var isTold = false
      _ = PNGChunks.forEach(of: png) { name, content in
        if name == "IDAT" {
          if !isTold {
            if index == 0 {
              let plays = [UInt8](bigEndian: image.plays, count: 4)
              file += PNGChunks.chunk("acTL", [UInt8](bigEndian: image.frames, count: 4) + plays)
            }
            let delay = min(65535, max(0, index < delays.count ? Int(delays[index]) : 100))
            let sides = [UInt8](bigEndian: width, count: 4) + [UInt8](bigEndian: height, count: 4)
            let times = [UInt8](bigEndian: delay, count: 2) + [UInt8](bigEndian: 1000, count: 2)
            file += PNGChunks.chunk("fcTL", next() + sides + Array(repeating: 0, count: 8) + times + [0, 0])
            isTold = true
          }
          let data = Array(png[content])
          file += index == 0 ? PNGChunks.chunk("IDAT", data) : PNGChunks.chunk("fdAT", next() + data)
        } else if index == 0, !isTold {
          file += PNGChunks.chunk(name, Array(png[content]))
        }
        return true
      }
    }
    return file + PNGChunks.chunk("IEND", [])
  }
}

extension VipsPicture {
  /// The duration of each frame, in milliseconds. Empty if unknown.
  fileprivate var delays: [Int32] {
    var values: UnsafeMutablePointer<Int32>?
    var count: Int32 = 0
    guard has("delay"), unsafe vips_image_get_array_int(pointer, "delay", &values, &count) == 0,
      let values = unsafe values
    else { return [] }
    return unsafe Array(UnsafeBufferPointer(start: values, count: Int(count)))
  }

  /// The number of repetitions of the animation. 0 means endless.
  fileprivate var plays: Int {
    var value: Int32 = 0
    return unsafe has("loop") && vips_image_get_int(pointer, "loop", &value) == 0 ? max(0, Int(value)) : 0
  }
}
