internal import CFFmpeg
internal import WorkerKit

/// Where a muxer's bytes go.
protocol ContainerDoor: AnyObject {
  /// It goes with the door.
  var stream: UnsafeMutablePointer<AVIOContext> { get }
  /// What became of a write, if that failed: FFmpeg tells only that it did.
  var failure: JobFailure? { get }
  /// How many bytes there are.
  var count: Int64 { get }
}
