internal import CFFmpeg
internal import Catalogue
internal import WorkerKit

/// The selection of an audio stream in a file.
enum SoundChoice {
  /// - Parameter track: counted among the file's audio streams, from 1; `nil` for the one that players choose.
  static func stream(of input: MediaInput, track: Int?) throws(JobFailure) -> MediaStream {
    let sounds = input.streams.filter { $0.kind == .sound && $0.rate > 0 && $0.channels > 0 }
    guard let first = sounds.first else { throw JobFailure(.unsupported, "has no sound") }
    guard let track else { return sounds.first { $0.isDefault } ?? first }
    guard track <= sounds.count else {
      throw JobFailure(.absent, sounds.count == 1 ? "has one sound only" : "has \(sounds.count) sounds only")
    }
    return sounds[track - 1]
  }
}
