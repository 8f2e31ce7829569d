public import Bytes
internal import Glibc
internal import Synchronization

/// Memory that outlives its process: a mapped memfd_create(2) that another process holds open, too.
///
/// A process may end between any two stores: who reads it later finds each store whole or not at all, and all those before
/// it in the program. Places are offsets in bytes, which the caller has checked; a place beyond the capacity traps. Memory
/// is only taken where something was stored. Not locked: one process writes at a time.
@safe public final class LastingMemory: @unchecked Sendable {
  // Sendable: whoever uses it from several threads has a lock of his own.
  private let start: UnsafeMutableRawPointer
  /// In bytes.
  public let capacity: Int

  /// Maps `capacity` bytes of `file`, which stays open for the mapping alone, from `offset` on; both are multiples of a page.
  /// What is new in it is zero.
  ///
  /// - Throws: the errno of ftruncate(2) or mmap(2).
  public init(_ file: borrowing Descriptor, at offset: Int, capacity: Int) throws(Fault) {
    let raw = file.raw
    var status = stat()
    _ = try systemCall("fstat") { unsafe fstat(raw, &status) }
    let end = offset + capacity
    if status.st_size < end { _ = try systemCall("ftruncate") { ftruncate(raw, end) } }
    let mapped = unsafe mmap(nil, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | Int32(MAP_NORESERVE), raw, offset)
    guard let mapped = unsafe mapped, unsafe mapped != MAP_FAILED else { throw Fault(.system(errno), "mmap") }
    unsafe start = mapped
    self.capacity = capacity
  }

  deinit { _ = unsafe munmap(start, capacity) }

  private func check(_ place: Int, _ count: Int) {
    precondition(place >= 0 && count >= 0 && place <= capacity - count)
  }

  /// The address of `count` bytes for others to write to; valid while this object is.
  public func address(of place: Int, count: Int) -> UnsafeMutableRawPointer {
    check(place, count)
    return unsafe start + place
  }

  /// Has the pages of `count` bytes from a multiple of a page on in memory and mapped, as far as the kernel knows how (Linux
  /// 5.14).
  public func populate(_ place: Int, count: Int) {
    check(place, count)
    // MADV_POPULATE_WRITE.
    _ = unsafe madvise(start + place, count, 23)
  }

  /// The number at a place that is a multiple of its size.
  public func load<Number: FixedWidthInteger & BitwiseCopyable>(_ place: Int, as type: Number.Type) -> Number {
    check(place, MemoryLayout<Number>.size)
    return unsafe start.load(fromByteOffset: place, as: type)
  }

  /// Stores a number at a place that is a multiple of its size, after all that was stored before.
  public func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at place: Int) {
    check(place, MemoryLayout<Number>.size)
    // The compiler keeps the order; the kernel keeps what a thread has done when it ends that.
    atomicMemoryFence(ordering: .acquiringAndReleasing)
    unsafe start.storeBytes(of: number, toByteOffset: place, as: Number.self)
    atomicMemoryFence(ordering: .acquiringAndReleasing)
  }

  public func bytes(at place: Int, count: Int) -> [UInt8] {
    check(place, count)
    return unsafe Array(UnsafeRawBufferPointer(start: start + place, count: count))
  }

  public func store(_ bytes: ArraySlice<UInt8>, at place: Int) {
    check(place, bytes.count)
    unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      unsafe (start + place).copyMemory(from: base, byteCount: bytes.count)
    }
  }

  /// Whether the bytes at a place are these.
  public func holds(_ bytes: ArraySlice<UInt8>, at place: Int) -> Bool {
    check(place, bytes.count)
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return true }
      return unsafe memcmp(start + place, base, bytes.count) == 0
    }
  }
}
