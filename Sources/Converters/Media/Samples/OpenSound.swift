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
  let map: SampleMap?

  init(_ bytes: JobInput, track: Int?) throws(JobFailure) {
    self.track = track
    input = try MediaInput(bytes)
    stream = try SoundChoice.stream(of: input, track: track)
    facts = try SoundFacts(stream, of: input)
    map = try SampleMap(stream, of: input)
  }
}
