/// A name in a directory listing: a slice of a block of names, so that a listing needs no allocation per name.
public struct ListedName: Sendable {
  private let block: [UInt8]
  private let start: Int
  /// In bytes.
  public let count: Int

  /// The name at `range` of `block`; a NUL must follow it.
  public init(in block: [UInt8], _ range: Range<Int>) {
    precondition(block[range.upperBound] == 0)
    self.block = block
    start = range.lowerBound
    count = range.count
  }

  public init(_ name: FileName) { self.init(in: name.terminated, 0..<name.count) }

  public var bytes: ArraySlice<UInt8> { block[start..<start + count] }
  public var fileName: FileName { FileName(bytes) }

  /// What follows the last dot; nil if there is no dot or only a leading one.
  public var fileExtension: FileExtension? { FileExtension(ofName: bytes) }

  /// With the terminating NUL that C needs.
  public func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    unsafe block.withUnsafeBytes { block in
      unsafe body(block.baseAddress!.advanced(by: start).assumingMemoryBound(to: CChar.self))
    }
  }
}
