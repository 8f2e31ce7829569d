internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// A file of which one audio stream is read at random offsets.
final class OpenSound {
  let input: MediaInput
  let stream: MediaStream
  let facts: SoundFacts
  /// The requested track.
  let track: Int?
  /// The map of the samples. `nil` if the stream can only be decoded from its start.
  private(set) lazy var map: SampleMap? = (try? SampleMap(stream, of: input)) ?? nil
  /// The number of samples in each channel. `nil` if it is known only after decoding.
  private(set) lazy var count: Int64? =
    input.links.count > 1 ? linkedCount : map?.count ?? (try? SampleCount.count(stream, of: input)) ?? nil

  /// The sum of the numbers of samples of several files in a row. `nil` if their rates differ.
  private var linkedCount: Int64? {
    var sum: Int64 = 0
    for link in input.links {
      // A file that cannot be read is left out, and the remark says so.
      guard let sound = try? OpenSound(link, track: track) else { continue }
      guard sound.stream.rate == stream.rate, let count = sound.count else { return nil }
      sum = sum.addingReportingOverflow(count).partialValue
    }
    return sum > 0 ? sum : nil
  }

  /// The maximum number of samples in a packet of codecs whose packets have equal lengths. The maximum of Opus for
  /// others.
  var longestPacket: Int64 {
    let length = (try? unsafe input.stream(stream.index).pointee.codecpar.pointee.frame_size) ?? 0
    return length > 1 ? Int64(length) : 5760
  }

  /// The tags of the stream and its container, except the language, which is irrelevant for a single stream.
  var tags: MediaTags {
    var tags = stream.tags.completed(by: input.tags)
    tags.entries.removeAll { $0.name == "language" }
    return tags
  }

  /// Returns the cover. Returns `nil` if the file has none.
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
