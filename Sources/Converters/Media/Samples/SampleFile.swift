internal import Catalogue
internal import WorkerKit

/// A file of uncompressed samples. Each byte follows from its offset, so that any part can be written independently.
struct SampleFile {
  enum Kind: String, CaseIterable {
    case wav, aiff, au, caf, w64
  }

  let kind: Kind
  let coding: SampleCoding
  let rate: Int
  let channels: Int
  let speakers: UInt64
  /// The number of samples in each channel.
  let count: Int64
  /// The bytes before the samples.
  let head: [UInt8]
  /// The bytes after the samples.
  let tail: [UInt8]

  /// The size of a sample of all channels, in bytes.
  var step: Int { coding.size * channels }
  var bodySize: Int64 { count * Int64(step) }
  var size: Int64 { Int64(head.count) + bodySize + Int64(tail.count) }
  var isBigEndian: Bool { kind == .aiff || kind == .au || kind == .caf }

  init(
    _ kind: Kind, _ coding: SampleCoding, _ shape: SoundShape, count: Int64, _ tags: MediaTags, _ cover: SoundCover?,
    _ chapters: [MediaChapter]
  ) throws(JobFailure) {
    self.kind = kind
    self.coding = coding
    rate = shape.rate
    channels = shape.channels
    speakers = shape.speakers
    self.count = count
    let (size, overflow) = count.multipliedReportingOverflow(by: Int64(coding.size * shape.channels))
    guard !overflow, size < Job.largestOutput else {
      throw JobFailure(.limit, "would be larger than \(Job.largestOutput) bytes")
    }
    let more = kind == .wav || kind == .aiff ? ID3Tag.bytes(tags, cover, chapters) : []
    let chunk = more.isEmpty ? [] : kind == .wav ? SampleHead.chunk("id3 ", more) : SampleHead.bigChunk("ID3 ", more)
    let facts = SampleHead(
      coding: coding, shape: shape, count: count, bodySize: size, tags: tags, tailSize: chunk.count)
    switch kind {
    case .wav: head = facts.wav
    case .aiff:
      guard size + Int64(chunk.count) < 1 << 32 - 1 << 16 else {
        throw JobFailure(.limit, "is too long for AIFF; CAF and W64 have room")
      }
      head = facts.aiff
    case .au: head = facts.au
    case .caf: head = facts.caf
    case .w64: head = facts.w64
    }
    let unit: Int64 = kind == .wav || kind == .aiff ? 2 : 1
    tail = [UInt8](repeating: 0, count: Int((unit - size % unit) % unit)) + chunk
  }

  /// Returns the encoding of an audio stream's samples in a file of this kind.
  static func coding(_ kind: Kind, for facts: SoundFacts, _ changes: SoundChanges) -> SampleCoding {
    if let depth = changes.depth { return .integer(bits: depth) }
    return facts.isFloating ? .float : .integer(bits: facts.depth ?? 16)
  }
}
