internal import CFFmpeg

/// The parameters for encoding pictures in a container.
struct PictureCoding: Sendable {
  /// FFmpeg's name of the encoder.
  let encoder: String
  var options: [String: String] = [:]
  /// The quality of encoders with a quantizer scale, usually from 1 (best) to 31.
  var quantizer: Int?
  /// Whether the encoder has a quality option named `crf`.
  var hasRateFactor = false
  var pixelFormat = "yuv420p"
  /// The number that divides both sides of a picture.
  var block = 2
  /// Whether sides need not be multiples of `block`.
  var takesOddSides = false
  /// The maximum size of a picture, in pixels.
  var most = (width: 8192, height: 8192)
  /// The supported numbers of pictures per second, as fractions. Empty if any is supported, including variable rates if
  /// `keepsTimes`.
  var rates: [(Int32, Int32)] = []
  var keepsTimes = true
  /// The number of pictures from one key frame to the next.
  var groupSize: Int32 = 250
  /// The time from one key frame to the next, in seconds. Overrides `groupSize`.
  var groupSeconds: Int32?

  /// The maximum number of pictures per second if the recipe does not specify a rate.
  var usualMostRate: Int32?
  /// Whether all pictures share a palette of 256 colours.
  var hasPalette = false

  /// The options that minimize the number of buffered pictures.
  private static let memory = "sync-lookahead=0:b-pyramid=none"
  /// H.264. A minute in 1920x1080 takes fifteen seconds on two processors, and 185 MB.
  static let h264 = PictureCoding(
    encoder: "libx264", options: ["preset": "superfast", "crf": "23", "x264-params": memory],
    hasRateFactor: true)
  /// H.264 for mobile phones.
  static let plainH264 = PictureCoding(
    encoder: "libx264",
    options: ["preset": "superfast", "crf": "23", "x264-params": memory, "profile": "baseline"],
    hasRateFactor: true)
  static let hevc = PictureCoding(
    encoder: "libx265",
    options: ["preset": "superfast", "crf": "26", "x265-params": "log-level=none:pools=2:frame-threads=2"],
    hasRateFactor: true)
  static let av1 = PictureCoding(encoder: "libsvtav1", options: ["preset": "10", "crf": "35"], hasRateFactor: true)
  static let vp9 = PictureCoding(
    encoder: "libvpx-vp9",
    options: [
      "deadline": "realtime", "cpu-used": "7", "crf": "33", "b": "0", "row-mt": "1", "tile-columns": "1",
    ], hasRateFactor: true, takesOddSides: true)
  static let vp8 = PictureCoding(
    encoder: "libvpx", options: ["deadline": "realtime", "cpu-used": "4", "crf": "15", "b": "4M"], hasRateFactor: true,
    takesOddSides: true)
  static let mpeg4 = PictureCoding(encoder: "mpeg4", quantizer: 4, takesOddSides: true, keepsTimes: false)
  static let mpeg2 = PictureCoding(
    encoder: "mpeg2video", options: ["bf": "2"], quantizer: 4, takesOddSides: true, rates: mpegRates, keepsTimes: false,
    groupSize: 15)
  static let wmv = PictureCoding(encoder: "wmv2", quantizer: 4, keepsTimes: false)
  static let flv = PictureCoding(encoder: "flv", quantizer: 4, takesOddSides: true, keepsTimes: false)
  static let realVideo = PictureCoding(
    encoder: "rv20", quantizer: 4, block: 16, most: (1024, 1024), keepsTimes: false)
  static let amv = PictureCoding(
    encoder: "amv", quantizer: 4, pixelFormat: "yuvj420p", block: 16, most: (320, 240),
    rates: [10, 14, 15, 18, 21, 25, 30].map { ($0, 1) }, keepsTimes: false)
  static let theora = PictureCoding(encoder: "libtheora", quantizer: 7, takesOddSides: true, keepsTimes: false)

  static let gif = PictureCoding(
    encoder: "gif", pixelFormat: "bgra", block: 1, keepsTimes: false, usualMostRate: 15, hasPalette: true)
  static let webp = PictureCoding(
    encoder: "libwebp_anim", options: ["quality": "75", "compression_level": "4"], block: 1, keepsTimes: false,
    usualMostRate: 15)
  static let jpeg = PictureCoding(encoder: "mjpeg", pixelFormat: "yuvj420p", block: 1)
  static let png = PictureCoding(encoder: "png", pixelFormat: "rgb24", block: 1)

  private static let mpegRates: [(Int32, Int32)] = [
    (24000, 1001), (24, 1), (25, 1), (30000, 1001), (30, 1), (50, 1), (60000, 1001), (60, 1),
  ]

  /// Returns the value on the encoder's scale for a quality from 0 (best) to 63.
  func quantizer(for quality: Int) -> Int {
    encoder == "libtheora" ? max(0, 10 - quality / 7) : max(1, min(31, (quality + 2) / 6))
  }
}

/// The parameters for encoding audio in a container.
struct SoundCoding: Sendable {
  /// FFmpeg's name of the encoder.
  let encoder: String
  /// The bit rate of one channel, in bits per second. 0 selects the encoder's default.
  var bitRate = 0
  var options: [String: String] = [:]
  /// The supported sample rates, in samples per second. Empty if those of the encoder apply.
  var rates: [Int] = []
  var layouts = ["mono", "stereo"]

  /// Returns the gain that restores the loudness. LAME attenuates audio at low bit rates.
  func gain(channels: Int) -> Double {
    guard encoder == "libmp3lame" else { return 1 }
    let rate = bitRate * channels / 1000
    return rate < 192 ? 1 / 0.95 : rate < 224 ? 1 / 0.97 : rate < 256 ? 1 / 0.98 : 1
  }

  static let aac = SoundCoding(
    encoder: "aac", bitRate: 80_000, layouts: ["mono", "stereo", "3.0", "4.0", "5.0", "5.1"])
  static let mp3 = SoundCoding(encoder: "libmp3lame", bitRate: 96_000)
  static let opus = SoundCoding(encoder: "libopus", bitRate: 64_000, rates: [48_000])
  static let vorbis = SoundCoding(encoder: "libvorbis", options: ["q": "5"])
  static let mp2 = SoundCoding(encoder: "mp2", bitRate: 96_000)
  static let ac3 = SoundCoding(
    encoder: "ac3", bitRate: 96_000, layouts: ["mono", "stereo", "3.0", "5.0(side)", "5.1(side)"])
  /// AC-3 with the channels that RealMedia supports.
  static let plainAC3 = SoundCoding(encoder: "ac3", bitRate: 96_000)
  static let wma = SoundCoding(encoder: "wmav2", bitRate: 64_000)
  static let flashMP3 = SoundCoding(encoder: "libmp3lame", bitRate: 64_000, rates: [44_100, 22_050, 11_025])
  static let amv = SoundCoding(encoder: "adpcm_ima_amv", rates: [22_050], layouts: ["mono"])
  static let tape = SoundCoding(encoder: "pcm_s16le", rates: [48_000])
}
