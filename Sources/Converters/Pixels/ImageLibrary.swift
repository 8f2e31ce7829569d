/// What is left to a library that knows many formats: who works on images inside of other files need not know which.
public protocol ImageLibrary {
  /// An image at about another size, smaller or larger, filtered so that nothing is lost that could be seen; nil where there
  /// is too little memory.
  func resized(_ samples: Samples, to width: Int, _ height: Int) -> Samples?

  /// The pixels of a JPEG 2000 file or stream as they are stored; nil if that is not with eight bits, or something is wrong.
  func samples(jpeg2000 bytes: [UInt8]) -> Samples?

  /// Of a fax image of Group 4 (ITU-T T.6), 255 where it is white; nil when anything is wrong with it.
  func samples(fax bytes: [UInt8], width: Int, height: Int) -> Samples?
}
