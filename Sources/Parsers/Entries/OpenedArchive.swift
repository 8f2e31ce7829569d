public import Bytes

/// An archive that has been listed: the bytes of its entries, by node.
public protocol OpenedArchive: AnyObject, Sendable {
  var entries: EntryTree { get }

  /// The fault that kept some of the archive from being listed.
  var fault: Fault? { get }

  /// Whether only the last of several files is present.
  var lacksParts: Bool { get }

  /// The bytes of a file or of a symbolic link's target; takes one small read. Throws when they cannot be read.
  func open(_ index: UInt32, _ patience: Patience) throws(Fault) -> any ByteSource

  /// The bytes of a file for who reads them from the first to the last, and may wait in between.
  func openEarly(_ index: UInt32, _ patience: Patience) throws(Fault) -> any ByteSource

  /// The fault of opening a file; nil if there is none.
  func fault(of index: UInt32, _ patience: Patience) throws(Fault) -> Fault?

  /// The assurance of a file's bytes, as far as it is known. Nil if reading them to their end compares them with a
  /// checksum that the archive has of them.
  func assurance(of index: UInt32) -> Assurance?

  /// Identifies an entry's content, wherever it is stored; 0 for every folder. nil if nothing recorded does.
  func identity(_ index: UInt32) -> UInt64?

  /// Whether an entry is decoded on opening.
  func isPrompt(_ index: UInt32) -> Bool

  /// Whether an entry's bytes are verified as they are decoded; others are by reading all of them.
  func isDecoded(_ index: UInt32) -> Bool

  /// The extended attributes of the user's name space that are recorded of an entry.
  func extendedAttributes(_ index: UInt32, _ patience: Patience) throws(Fault) -> [(name: FileName, value: [UInt8])]

  /// The present size of a file whose size is only estimated until it has been read; nil if its node has it.
  func size(of index: UInt32) -> (size: Int64, isExact: Bool)?

  /// Finds such a size. Blocks.
  func findSize(of index: UInt32, _ patience: Patience) throws(Fault)
}

extension OpenedArchive {
  public var lacksParts: Bool { false }
  public func openEarly(_ index: UInt32, _ patience: Patience) throws(Fault) -> any ByteSource {
    try open(index, patience)
  }

  public func assurance(of index: UInt32) -> Assurance? { Assurance.none }
  public func isPrompt(_ index: UInt32) -> Bool { false }
  public func isDecoded(_ index: UInt32) -> Bool { true }
  public func identity(_ index: UInt32) -> UInt64? { entries.nodes[Int(index)].kind == .folder ? 0 : nil }
  public func extendedAttributes(
    _ index: UInt32, _ patience: Patience
  ) throws(Fault) -> [(name: FileName, value: [UInt8])] { [] }
  public func size(of index: UInt32) -> (size: Int64, isExact: Bool)? { nil }
  public func findSize(of index: UInt32, _ patience: Patience) throws(Fault) {}

  public func fault(of index: UInt32, _ patience: Patience) throws(Fault) -> Fault? {
    guard entries.nodes[Int(index)].kind == .file else { return nil }
    do throws(Fault) { _ = try open(index, patience) } catch {
      if error.isDelay { throw error }
      return error
    }
    return nil
  }
}
