internal import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// An open real file in a writable mount. Its descriptor stays open as long as the file, even if the name is removed.
final class OpenFileDescription: ByteSource, DescriptorHolder {
  private let descriptor: Descriptor
  private let writing: WriteState
  /// The locks that were set through this file. They end with it if the file was closed without a flush.
  let lockers = Mutex<[WriteState.Locker: WriteState.WeakLock]>([:])
  /// The record for the next process. `nil` if there will be none.
  let entry: OpenLedger.Entry?
  /// The kernel's handle. 0 if unknown.
  let number = Atomic<UInt64>(0)

  init(_ descriptor: consuming Descriptor, _ writing: WriteState, _ entry: OpenLedger.Entry? = nil) {
    self.descriptor = descriptor
    self.writing = writing
    self.entry = entry
  }

  deinit {
    entry?.remove()
    // Before this release was read, the owner may have closed the file and set another lock through another open file.
    for (locker, reference) in lockers.withLock({ $0 }) {
      if let lock = reference.lock { writing.unlock(locker, only: lock) }
    }
  }

  var raw: Int32 { descriptor.raw }
  func status() throws(Fault) -> FileStatus { try descriptor.status() }

  var size: Int64 { (try? status().size) ?? 0 }
  var identity: ByteIdentity? { nil }
  var isSettling: Bool { false }

  func withDescriptor<Result>(_ body: (Int32) throws(Fault) -> Result) throws(Fault) -> Result {
    try body(descriptor.raw)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    unsafe try FileChanges.read(into: buffer, of: descriptor.raw, at: offset)
  }

  func extent(at offset: Int64, count: Int) -> Extent? { Extent(holder: self, offset: offset, count: count) }

  func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64? {
    try FileChanges.next(area, of: descriptor.raw, from: offset)
  }
}
