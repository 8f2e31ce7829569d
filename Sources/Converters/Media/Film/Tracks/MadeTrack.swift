internal import CFFmpeg
internal import WorkerKit

/// A track of a conversion result, made from one stream of the source.
protocol MadeTrack: AnyObject {
  /// The index of the source's stream.
  var source: Int { get }

  /// Adds the track to a container that has not been started.
  func declare(in output: MediaOutput) throws(JobFailure)

  /// Processes a packet of the stream and writes the resulting packets. `nil` is the end of the stream.
  func take(_ packet: MediaPacket?, _ output: MediaOutput) throws(JobFailure)

  /// Whether the track needs no more packets.
  var isDone: Bool { get }
}

extension MadeTrack {
  var isDone: Bool { false }
}
