/// Operations of an image library, for code that works on images inside other files, without a dependency on the
/// library.
public protocol ImageLibrary {
  /// The image scaled down or up, with a filter that preserves visible detail; nil if memory is short.
  func resized(_ samples: Samples, to width: Int, _ height: Int) -> Samples?

  /// The pixels of a JPEG 2000 file or stream as stored; nil if they do not have eight bits, or on any error.
  func samples(jpeg2000 bytes: [UInt8]) -> Samples?

  /// The pixels of a Group 4 fax image (ITU-T T.6), with 255 for white; nil on any error.
  func samples(fax bytes: [UInt8], width: Int, height: Int) -> Samples?
}
