internal import WorkerKit

extension MediaDecoder {
  /// Decodes like `decode`. Also passes the shape of the samples to `body`.
  @discardableResult
  func decodeSound(
    _ packet: MediaPacket?, _ body: (MediaFrame, SoundShape) throws(JobFailure) -> Void
  ) throws(JobFailure) -> Bool {
    try decode(packet) { (frame) throws(JobFailure) in
      if let shape = frame.shape, frame.sampleCount > 0 { try body(frame, shape) }
    }
  }
}
