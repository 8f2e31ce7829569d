internal import CFFmpeg
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// The conversion into a file of uncompressed samples, or a part of it.
struct SampleFileJob {
  private let kind: SampleFile.Kind
  private let sound: OpenSound
  private let coding: SampleCoding
  private let shape: SoundShape
  private let feed: SoundFeed
  private let tags: MediaTags
  private let cover: SoundCover?
  private let chapters: [MediaChapter]

  /// Prepares the conversion. `tags` replaces the source's own tags and omits its chapters.
  init(
    _ kind: SampleFile.Kind, of sound: OpenSound, _ changes: SoundChanges, tags: MediaTags? = nil
  ) throws(JobFailure) {
    self.tags = tags ?? sound.tags
    chapters = tags == nil ? sound.input.chapters(placed: changes.place) : []
    self.kind = kind
    self.sound = sound
    coding = SampleFile.coding(kind, for: sound.facts, changes)
    var shape = sound.facts.shape(changes)
    shape.format = coding.format
    self.shape = shape
    feed = try SoundFeed(sound, as: shape, changes)
    cover = kind == .wav || kind == .aiff ? try sound.cover() : nil
  }

  private func file(_ count: Int64) throws(JobFailure) -> SampleFile {
    try SampleFile(kind, coding, shape, count: count, tags, cover, chapters)
  }

  /// Returns the size of the file, and whether any part of it can be made independently. Returns `unmeasured` if that
  /// is known only after the conversion.
  func measured() throws(JobFailure) -> JobAnswer.Outcome {
    guard let count = feed.count else { return .done(JobAnswer.unmeasured) }
    return try .done(file(count).size, remark: feed.ranged == nil ? JobAnswer.inOrder : "")
  }

  /// Writes the file or the given range of it. Returns the job's remark.
  func write(_ part: Range<Int64>?, to output: JobOutput) throws(JobFailure) -> String {
    if let ranged = feed.ranged {
      let file = try file(ranged.count)
      try write(part ?? 0..<file.size, of: file, ranged, to: output)
    } else {
      guard part == nil else { throw JobFailure(.system, "has no parts") }
      try writeInOrder(to: output)
    }
    return feed.remark
  }

  private func write(
    _ part: Range<Int64>, of file: SampleFile, _ ranged: RangedSound, to output: JobOutput
  ) throws(JobFailure) {
    let part = part.clamped(to: 0..<file.size)
    try unsafe write(file.head.span.bytes, at: 0, part, to: output)
    let start = Int64(file.head.count)
    let body = part.clamped(to: start..<start + file.bodySize)
    let progress = ProgressReport(output)
    if !body.isEmpty {
      let step = Int64(file.step)
      let samples = (body.lowerBound - start) / step..<(body.upperBound - start + step - 1) / step
      var place = start + samples.lowerBound * step
      var room: [UInt8] = []
      try feed.forEachFrame(in: samples, of: ranged) { (frame) throws(JobFailure) in
        try coding.withBytes(of: frame, channels: shape.channels, isBigEndian: file.isBigEndian, &room) {
          (bytes) throws(JobFailure) in
          try write(bytes, at: place, body, to: output)
          place += Int64(bytes.byteCount)
        }
        progress.tell(Double(place - body.lowerBound) / Double(body.count))
      }
    }
    try unsafe write(file.tail.span.bytes, at: start + file.bodySize, part, to: output)
  }

  /// Writes those of some bytes that are in a range. `place` is their offset in the file.
  private func write(
    _ bytes: RawSpan, at place: Int64, _ part: Range<Int64>, to output: JobOutput
  ) throws(JobFailure) {
    let wanted = (place..<place + Int64(bytes.byteCount)).clamped(to: part)
    guard !wanted.isEmpty else { return }
    try output.write(bytes.extracting(Int(wanted.lowerBound - place)..<Int(wanted.upperBound - place)))
  }

  /// Writes the file by decoding from the start. If the length is known only at the end, the header is filled in then,
  /// and nothing can be read before.
  private func writeInOrder(to output: JobOutput) throws(JobFailure) {
    let file = try file(feed.count ?? 0)
    try unsafe output.write(file.head.span.bytes)
    var count: Int64 = 0
    let progress = ProgressReport(output)
    var room: [UInt8] = []
    try feed.forEachFrame { (frame, share) throws(JobFailure) in
      try coding.withBytes(of: frame, channels: shape.channels, isBigEndian: file.isBigEndian, &room) {
        (bytes) throws(JobFailure) in try output.write(bytes)
      }
      count += Int64(frame.sampleCount)
      progress.tell(share) { feed.count == nil ? 0 : Int64(file.head.count) + count * Int64(file.step) }
    }
    let whole = try self.file(count)
    guard whole.head.count == file.head.count else {
      throw JobFailure(.limit, "is too long for \(kind.rawValue.uppercased()) here; W64 and CAF have room")
    }
    try unsafe output.write(whole.tail.span.bytes)
    if feed.count != nil { return }
    guard lseek(output.descriptor, 0, SEEK_SET) == 0 else { throw JobFailure("cannot be written", errno: errno) }
    try unsafe output.write(whole.head.span.bytes)
  }
}
