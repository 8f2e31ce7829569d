internal import CFFmpeg
internal import WorkerKit

/// A track of a result, made of one stream of the source.
protocol MadeTrack: AnyObject {
  /// Which stream.
  var source: Int { get }

  /// Adds the track to a container that is not started yet.
  func declare(in output: MediaOutput) throws(JobFailure)

  /// Takes a packet of the stream, nil at its end, and writes what comes of it.
  func take(_ packet: MediaPacket?, _ output: MediaOutput) throws(JobFailure)

  /// Whether nothing more is wanted of the stream.
  var isDone: Bool { get }
}

extension MadeTrack {
  var isDone: Bool { false }
}
