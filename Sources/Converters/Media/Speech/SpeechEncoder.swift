internal import CAmr
internal import Catalogue
internal import WorkerKit

/// An encoder of speech in frames of constant size, including silent ones.
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

  /// Returns the frame for `SpeechCoding.step` samples.
  func frame(of samples: [Int16]) throws(JobFailure) -> [UInt8] {
    guard samples.count == coding.step else { throw JobFailure(.system, "is coded in frames of another length") }
    // Larger than the output of both encoders.
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
