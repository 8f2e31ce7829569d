/// A name in a directory listing: a slice of a block of names, so that a listing needs no allocation per name.
public struct ListedName: Sendable {
  private let block: [UInt8]
  private let start: Int
  /// The length in bytes.
  public let count: Int

  /// Creates a name from `range` of `block`. A NUL must follow the range.
  public init(in block: [UInt8], _ range: Range<Int>) {
    precondition(block[range.upperBound] == 0)
    self.block = block
    start = range.lowerBound
    count = range.count
  }

  public init(_ name: FileName) { self.init(in: name.terminated, 0..<name.count) }

  public var bytes: ArraySlice<UInt8> { block[start..<start + count] }
  public var fileName: FileName { FileName(bytes) }

  /// The extension after the last dot. Nil if there is none, or if the last dot is the first or last byte.
  public var fileExtension: FileExtension? { FileExtension(ofName: bytes) }

  /// Calls `body` with the name as a NUL-terminated C string.
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe block.withUnsafeBytes { block in
      unsafe body(block.baseAddress!.advanced(by: start).assumingMemoryBound(to: CChar.self))
    }
  }
}
