internal import CFFmpeg
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// Writes a file of plain samples, or a part of it.
struct SampleFileJob {
  private let kind: SampleFile.Kind
  private let changes: SoundChanges
  private let sound: OpenSound
  private let coding: SampleCoding
  private let shape: SoundShape
  private let tags: MediaTags

  /// `tags`: in place of the sound's own.
  init(_ kind: SampleFile.Kind, of sound: OpenSound, _ changes: SoundChanges, tags: MediaTags? = nil) {
    self.tags = tags ?? sound.tags
    self.kind = kind
    self.changes = changes
    self.sound = sound
    coding = SampleFile.coding(kind, for: sound.facts, changes)
    var shape = sound.facts.shape(changes)
    shape.format = coding.format
    self.shape = shape
  }

  /// The sound in the file's shape; nil if it has to be decoded from its start.
  private func ranged() throws(JobFailure) -> RangedSound? {
    guard changes.speed == nil, let map = sound.map else { return nil }
    return try RangedSound(map, changes.span, as: shape)
  }

  private func file(_ count: Int64) throws(JobFailure) -> SampleFile {
    try SampleFile(kind, coding, shape, count: count, tags)
  }

  /// How many bytes it will have; nil if that shows only when it is made.
  func size() throws(JobFailure) -> Int64? {
    guard let ranged = try ranged() else { return nil }
    return try file(ranged.count).size
  }

  func write(_ part: Range<Int64>?, to output: JobOutput) throws(JobFailure) {
    guard let ranged = try ranged() else {
      guard part == nil else { throw JobFailure(.system, "has no parts") }
      return try writeInOrder(to: output)
    }
    let file = try file(ranged.count)
    try write(part ?? 0..<file.size, of: file, ranged, to: output)
  }

  private func write(
    _ part: Range<Int64>, of file: SampleFile, _ ranged: RangedSound, to output: JobOutput
  ) throws(JobFailure) {
    let part = part.clamped(to: 0..<file.size)
    try write(file.head, at: 0, part, to: output)
    let start = Int64(file.head.count)
    let body = part.clamped(to: start..<start + file.bodySize)
    let progress = ProgressReport(output)
    if !body.isEmpty {
      let step = Int64(file.step)
      let samples = (body.lowerBound - start) / step..<(body.upperBound - start + step - 1) / step
      var place = start + samples.lowerBound * step
      try ranged.forEach(in: samples) { (frame) throws(JobFailure) in
        let bytes = coding.bytes(of: frame, channels: shape.channels, isBigEndian: file.isBigEndian)
        try write(bytes, at: place, body, to: output)
        place += Int64(bytes.count)
        progress.tell(Double(place - body.lowerBound) / Double(body.count))
      }
    }
    try write(file.tail, at: start + file.bodySize, part, to: output)
  }

  /// Writes what of some bytes, which start at a place in the file, lies in a part of it.
  private func write(
    _ bytes: [UInt8], at place: Int64, _ part: Range<Int64>, to output: JobOutput
  ) throws(JobFailure) {
    let wanted = (place..<place + Int64(bytes.count)).clamped(to: part)
    guard !wanted.isEmpty else { return }
    let span = bytes.span.extracting(Int(wanted.lowerBound - place)..<Int(wanted.upperBound - place))
    try unsafe output.write(span.bytes)
  }

  /// Decoded from the start; how long it is shows at the end.
  private func writeInOrder(to output: JobOutput) throws(JobFailure) {
    let file = try file(0)
    try unsafe output.write(file.head.span.bytes)
    var count: Int64 = 0
    let progress = ProgressReport(output)
    try SoundFeed(sound, as: shape, changes).forEachFrame { (frame, share) throws(JobFailure) in
      let bytes = coding.bytes(of: frame, channels: shape.channels, isBigEndian: file.isBigEndian)
      try unsafe output.write(bytes.span.bytes)
      count += Int64(frame.sampleCount)
      progress.tell(share)
    }
    let whole = try self.file(count)
    guard whole.head.count == file.head.count else {
      throw JobFailure(.limit, "is too long for \(kind.rawValue.uppercased()) here; W64 and CAF have room")
    }
    try unsafe output.write(whole.tail.span.bytes)
    guard lseek(output.descriptor, 0, SEEK_SET) == 0 else { throw JobFailure("cannot be written", errno: errno) }
    try unsafe output.write(whole.head.span.bytes)
  }
}
