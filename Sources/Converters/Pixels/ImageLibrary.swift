/// Operations of an image library, for code that works on images inside other files, without a dependency on the
/// library.
public protocol ImageLibrary {
  /// Returns the image scaled down or up, with a filter that preserves visible detail. Returns `nil` if memory is
  /// short.
  func resized(_ samples: Samples, to width: Int, _ height: Int) -> Samples?

  /// Returns the pixels of a JPEG 2000 file or stream as stored. Returns `nil` if they do not have eight bits, or on
  /// any error.
  func samples(jpeg2000 bytes: [UInt8]) -> Samples?

  /// Returns the pixels of a Group 4 fax image (ITU-T T.6), with 255 for white. Returns `nil` on any error.
  func samples(fax bytes: [UInt8], width: Int, height: Int) -> Samples?
}
