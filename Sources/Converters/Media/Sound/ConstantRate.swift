/// An encoding with a constant bit rate, whose packet sizes are known in advance.
enum ConstantRate {
  case mp3(MP3Frames)
  /// Packets of 20 ms at 48 kHz.
  case opus(size: Int, packets: Int64)

  var packets: Int64 {
    switch self {
    case .mp3(let frames): frames.count
    case .opus(_, let packets): packets
    }
  }

  /// The number of samples in a packet.
  var step: Int {
    switch self {
    case .mp3(let frames): frames.step
    case .opus: 960
    }
  }

  /// Calls `body` with the size of each packet, in bytes, in order.
  func forEachSize<Failure: Error>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
    switch self {
    case .mp3(let frames): try frames.forEachSize(body)
    case .opus(let size, let packets): for _ in 0..<packets { try body(size) }
    }
  }
}
