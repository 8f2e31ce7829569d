public import Bytes

/// A message whose attached files are encoded when they are read: its text, with each file inserted in Base64, in lines
/// of 76 characters that end with LF.
///
/// A reader that only searches for parts does not have to read the files: nothing in Base64 looks like the start of a
/// part.
public final class OutlinedMessage: ByteSource {
  public struct File: Sendable {
    /// The offset in the text, in bytes.
    let place: Int64
    let bytes: any ByteSource

    public init(_ bytes: any ByteSource, at place: Int64) {
      self.bytes = bytes
      self.place = place
    }
  }

  private let text: any ByteSource
  private let spliced: SplicedSource
  /// The ranges of the files, in ascending order.
  private let encoded: [Range<Int64>]
  public var size: Int64 { spliced.size }
  public var identity: ByteIdentity? { text.identity }

  /// - Parameter files: The files, in the order of their offsets in the text.
  public init(_ text: any ByteSource, _ files: [File]) {
    self.text = text
    var pieces: [SplicedSource.Piece] = []
    var encoded: [Range<Int64>] = []
    var (from, size): (Int64, Int64) = (0, 0)
    for file in files where file.place >= from && file.place <= text.size {
      let lines = Base64Source(file.bytes)
      pieces.append(SplicedSource.Piece(source: text, range: from..<file.place))
      pieces.append(SplicedSource.Piece(source: lines, range: 0..<lines.size))
      size = Bounds.sum(size, file.place - from)
      encoded.append(size..<Bounds.sum(size, lines.size))
      size = Bounds.sum(size, lines.size)
      from = file.place
    }
    pieces.append(SplicedSource.Piece(source: text, range: from..<max(from, text.size)))
    spliced = SplicedSource(pieces)
    self.encoded = encoded
  }

  /// Returns the size of an encoded file, in bytes.
  public static func encodedSize(of size: Int64) -> Int64 { Base64Source.size(of: size) }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    unsafe try spliced.read(into: buffer, at: offset, blocking)
  }

  public func verify() throws(Fault) { try text.verify() }

  /// Returns the range of the first file that ends after an offset.
  func file(endingAfter offset: Int64) -> Range<Int64>? {
    let index = encoded.partitionIndex { $0.upperBound <= offset }
    return index < encoded.count ? encoded[index] : nil
  }
}
