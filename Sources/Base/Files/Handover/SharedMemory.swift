public import Bytes
internal import Glibc
internal import Synchronization

/// Memory that outlives its process: a mapped memfd_create(2) that another process keeps open, too.
///
/// A process may end between any two stores. A later reader finds each store complete or not at all, and all stores
/// before it in program order. Offsets are in bytes and must be checked by the caller; an offset beyond the capacity
/// traps. Memory is used only where something was stored. Not locked: one process writes at a time.
@safe public final class SharedMemory: @unchecked Sendable {
  // Sendable: callers that use it from several threads have a lock of their own.
  private let start: UnsafeMutableRawPointer
  /// The size in bytes.
  public let capacity: Int

  /// Maps `capacity` bytes of `file` from `offset` on. Both are multiples of a page. New bytes are zero. The mapping
  /// keeps the file open after `file` is closed.
  ///
  /// - Throws: The errno of fstat(2), ftruncate(2) or mmap(2).
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

  /// Returns the address of `count` bytes for other code to write to. Valid as long as this object exists.
  public func address(of place: Int, count: Int) -> UnsafeMutableRawPointer {
    check(place, count)
    return unsafe start + place
  }

  /// Makes the pages of `count` bytes resident and mapped, if the kernel supports it (Linux 5.14). The offset must be a
  /// multiple of a page.
  public func populate(_ place: Int, count: Int) {
    check(place, count)
    // MADV_POPULATE_WRITE.
    _ = unsafe madvise(start + place, count, 23)
  }

  /// Returns the number at an offset that is a multiple of its size.
  public func load<Number: FixedWidthInteger & BitwiseCopyable>(_ place: Int, as type: Number.Type) -> Number {
    check(place, MemoryLayout<Number>.size)
    return unsafe start.load(fromByteOffset: place, as: type)
  }

  /// Stores a number at an offset that is a multiple of its size, after all earlier stores.
  public func store<Number: FixedWidthInteger & BitwiseCopyable>(_ number: Number, at place: Int) {
    check(place, MemoryLayout<Number>.size)
    // The compiler keeps the order. When the kernel ends a thread, the thread's stores remain.
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

  /// Returns whether the bytes at an offset are equal to these.
  public func holds(_ bytes: ArraySlice<UInt8>, at place: Int) -> Bool {
    check(place, bytes.count)
    return unsafe bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return true }
      return unsafe memcmp(start + place, base, bytes.count) == 0
    }
  }
}
