internal import CAmr
internal import Catalogue
internal import WorkerKit

/// Codes speech, frame by frame, with as many bits for each: silence is none of its own.
@safe final class SpeechEncoder {
  private let state: UnsafeMutableRawPointer
  private let coding: SpeechCoding
  private let mode: Int

  init(_ coding: SpeechCoding, mode: Int) throws(JobFailure) {
    let made = unsafe coding == .narrow ? Encoder_Interface_init(0) : E_IF_init()
    guard let made = unsafe made else { throw .noMemory() }
    unsafe state = made
    self.coding = coding
    self.mode = mode
  }

  deinit {
    switch coding {
    case .narrow: unsafe Encoder_Interface_exit(state)
    case .wide: unsafe E_IF_exit(state)
    }
  }

  /// A frame of as many samples as `SpeechCoding.step`.
  func frame(of samples: [Int16]) throws(JobFailure) -> [UInt8] {
    guard samples.count == coding.step else { throw JobFailure(.system, "is coded in frames of another length") }
    // More than either writes.
    var bytes = [UInt8](repeating: 0, count: 128)
    let count: Int32
    switch coding {
    case .narrow:
      count = unsafe Encoder_Interface_Encode(state, CAmr.Mode(rawValue: UInt32(mode)), samples, &bytes, 0)
    case .wide: count = unsafe E_IF_encode(state, Int32(mode), samples, &bytes, 0)
    }
    guard Int(count) == coding.frameSize(mode: mode) else { throw JobFailure(.system, "cannot be coded") }
    return Array(bytes.prefix(Int(count)))
  }
}
