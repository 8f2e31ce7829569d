internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A file of which one sound is read, here and there.
final class OpenSound {
  let input: MediaInput
  let stream: MediaStream
  let facts: SoundFacts
  /// As it was asked for.
  let track: Int?
  /// nil for what can only be decoded from its start.
  private(set) lazy var map: SampleMap? = (try? SampleMap(stream, of: input)) ?? nil
  /// How many samples of each channel there are; nil where that shows only when all are decoded.
  private(set) lazy var count: Int64? = map?.count ?? (try? SampleCount.count(stream, of: input)) ?? nil

  /// The maximum number of samples in a packet of codings whose packets have equal lengths; for others, of Opus.
  var longestPacket: Int64 {
    let length = (try? unsafe input.stream(stream.index).pointee.codecpar.pointee.frame_size) ?? 0
    return length > 1 ? Int64(length) : 5760
  }

  /// The container's and the sound's own, but for a language: that is of no interest where there is one sound.
  var tags: MediaTags {
    var tags = stream.tags.completed(by: input.tags)
    tags.entries.removeAll { $0.name == "language" }
    return tags
  }

  /// nil if it has none.
  func cover() throws(JobFailure) -> SoundCover? {
    guard let cover = input.cover else { return nil }
    let mimeType = cover.codecName == "png" ? "image/png" : "image/jpeg"
    return SoundCover(bytes: try input.coverBytes(cover), mimeType: mimeType)
  }

  init(_ bytes: JobInput, track: Int?) throws(JobFailure) {
    self.track = track
    input = try MediaInput(bytes)
    stream = try SoundChoice.stream(of: input, track: track)
    facts = try SoundFacts(stream, of: input)
  }
}
