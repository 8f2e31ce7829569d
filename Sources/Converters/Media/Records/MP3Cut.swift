internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A part of an MP3 file, made without re-encoding.
///
/// A frame depends on bytes and samples of earlier frames, so some frames before the part are copied, too. LAME's
/// information frame records the number of samples at either end that do not belong to the part. Players that support
/// it play exactly the samples of the whole file.
struct MP3Cut {
  private let sound: OpenSound
  private let span: MediaSpan
  private let tags: MediaTags

  /// The number of additional frames, limited by LAME's number of samples.
  private static let framesAhead: Int64 = 3

  init(_ sound: OpenSound, _ span: MediaSpan, _ tags: MediaTags) {
    self.sound = sound
    self.span = span
    self.tags = tags
  }

  /// Writes the part. Returns the job's remark.
  func write(to output: JobOutput) throws(JobFailure) -> String {
    guard sound.stream.codec == AV_CODEC_ID_MP3, sound.stream.rate > 0 else {
      throw JobFailure(.unsupported, "has sound as \(sound.stream.codecName), not as MP3")
    }
    let step = sound.mp3Step
    let frames = try sound.frames()
    let count = Int64(frames.sizes.count) * step - frames.padding.first - frames.padding.last
    let wanted = span.samples(at: sound.stream.rate)
    guard wanted.lowerBound < count else { throw JobFailure(.absent, "ends before \(span.start)") }
    // Decoders count the samples of all frames.
    let start = wanted.lowerBound + frames.padding.first
    let end = min(count, wanted.upperBound) + frames.padding.first
    let first = max(0, start / step - Self.framesAhead)
    let behind = min(Int64(frames.sizes.count), (end + step - 1) / step)
    let lead = start - first * step
    let information = MP3Information(
      rate: sound.stream.rate, channels: min(2, sound.stream.channels),
      sizes: Array(frames.sizes[Int(first)..<Int(behind)]), padding: (lead, behind * step - end))
    try write(Int(first)..<Int(behind), information.frame, to: output)
    return sound.input.shortfall
  }

  private func write(
    _ frames: Range<Int>, _ information: [UInt8], to output: JobOutput
  ) throws(JobFailure) {
    let input = sound.input
    let file = try MediaOutput("mp3", to: output, isStreamed: true, isSeekable: true)
    let place = Int(unsafe try file.addStream(sound.stream, of: input).pointee.index)
    let cover = try input.cover.map { (cover) throws(JobFailure) in (cover, try file.addCover(cover, of: input)) }
    file.set(tags)
    try file.start(["write_xing": "0"])
    if let (cover, place) = cover { try file.writeCover(cover, of: input, to: place) }
    try file.write(first: information, to: place, timeBase: sound.stream.timeBase)
    let packet = try MediaPacket()
    try input.rewind(sound.stream)
    var number = 0
    while number < frames.upperBound, try input.read(into: packet) {
      guard packet.stream == sound.stream.index else { continue }
      if frames.contains(number) {
        try file.write(packet, to: place, timeBase: sound.stream.timeBase)
        file.tell(Double(number - frames.lowerBound) / Double(frames.count))
      }
      number += 1
    }
    try file.finish()
  }
}

extension OpenSound {
  /// The number of samples in a frame of MP3.
  var mp3Step: Int64 { MP3Information.isFirstVersion(stream.rate) ? 1152 : 576 }

  /// Returns the information frame for an MP3 file with all frames of this one.
  func mp3Information() throws(JobFailure) -> MP3Information {
    let (sizes, padding) = try frames()
    return MP3Information(
      rate: stream.rate, channels: min(2, stream.channels), sizes: sizes, padding: (padding.first, padding.last))
  }

  /// Returns the sizes of all packets, and the number of padding samples at either end. For any codec.
  func frames() throws(JobFailure) -> (sizes: [Int], padding: (first: Int64, last: Int64)) {
    input.use(only: [stream.index])
    try input.rewind(stream)
    let lengths = try PacketLength(stream, of: input)
    let packet = try MediaPacket()
    var sizes: [Int] = []
    var padding: (first: Int64, last: Int64) = (0, 0)
    while try input.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      let own = lengths.padding(of: packet)
      if sizes.isEmpty { padding.first = own.first }
      padding.last = own.last
      sizes.append(Int(unsafe packet.pointer.pointee.size))
    }
    return (sizes, padding)
  }
}
