public import Bytes

/// A listed archive that provides the bytes of its entries by node.
public protocol OpenedArchive: AnyObject, Sendable {
  var entries: EntryTree { get }

  /// The fault that prevented a complete listing of the archive.
  var fault: Fault? { get }

  /// Whether only the last of several volumes is present.
  var lacksParts: Bool { get }

  /// Opens a file or a symbolic link's target. Takes one small read. Throws if the bytes cannot be read.
  func open(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource

  /// Opens a file for a client that reads it sequentially and can block between reads.
  func openEarly(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource

  /// Returns the fault that opening a file throws. Returns `nil` if it can be opened.
  func fault(of index: UInt32, _ blocking: BlockingMode) throws(Fault) -> Fault?

  /// Returns the first files, at most `count`, that are encrypted and that a password can open. O(n).
  func encrypted(atMost count: Int) -> [UInt32]

  /// Returns the assurance of a file's bytes, as far as it is known. Returns `nil` if reading the file to its end
  /// compares it with a checksum in the archive.
  func assurance(of index: UInt32) -> Assurance?

  /// Returns whether only reading a file shows that a known password decrypts it.
  func requiresReading(_ index: UInt32) -> Bool

  /// Returns an identifier of an entry's content that is independent of its location. Returns 0 for every directory and
  /// `nil` if no recorded value identifies the content.
  func identity(_ index: UInt32) -> UInt64?

  /// Returns whether an entry is decoded on opening.
  func isPrompt(_ index: UInt32) -> Bool

  /// Returns whether an entry's bytes are verified as they are decoded. Other entries are verified by reading all of
  /// their bytes.
  func isDecoded(_ index: UInt32) -> Bool

  /// Returns an entry's recorded extended attributes of the user namespace.
  func extendedAttributes(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> [(name: FileName, value: [UInt8])]

  /// Returns the current size of a file whose size is an estimate until it has been read. Returns `nil` if the node has
  /// the size.
  func size(of index: UInt32) -> (size: Int64, isExact: Bool)?

  /// Determines such a size. Blocks.
  func findSize(of index: UInt32, _ blocking: BlockingMode) throws(Fault)
}

extension OpenedArchive {
  public var lacksParts: Bool { false }
  public func openEarly(_ index: UInt32, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    try open(index, blocking)
  }

  public func encrypted(atMost count: Int) -> [UInt32] { [] }
  public func assurance(of index: UInt32) -> Assurance? { Assurance.none }
  public func requiresReading(_ index: UInt32) -> Bool { false }
  public func isPrompt(_ index: UInt32) -> Bool { false }
  public func isDecoded(_ index: UInt32) -> Bool { true }
  public func identity(_ index: UInt32) -> UInt64? { entries.nodes[Int(index)].kind == .folder ? 0 : nil }
  public func extendedAttributes(
    _ index: UInt32, _ blocking: BlockingMode
  ) throws(Fault) -> [(name: FileName, value: [UInt8])] { [] }
  public func size(of index: UInt32) -> (size: Int64, isExact: Bool)? { nil }
  public func findSize(of index: UInt32, _ blocking: BlockingMode) throws(Fault) {}

  public func fault(of index: UInt32, _ blocking: BlockingMode) throws(Fault) -> Fault? {
    guard entries.nodes[Int(index)].kind == .file else { return nil }
    do throws(Fault) { _ = try open(index, blocking) } catch {
      if error.isDelay { throw error }
      return error
    }
    return nil
  }
}
