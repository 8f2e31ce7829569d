internal import CFuse3
internal import Locks

/// The numbers by which the kernel identifies open files and directories.
///
/// A handle is the address of an object, with the ordinal of its process in the upper bits. The next process cannot use
/// that address. It reopens the file and stores its own object under the same number.
@safe final class Handles: Sendable {
  /// The position of the ordinal, in bits. Addresses have 47 bits.
  private static let shift: UInt64 = 48
  private let ordinal: UInt16
  let releases = ReleaseCount()
  private let inherited = UnfairLock<[UInt64: Reference]>([:])

  /// An object that is returned on any thread.
  private struct Reference: @unchecked Sendable {
    // Sendable: only the reference is passed on, whose count is atomic. Each class of these objects has its own locks.
    let object: AnyObject
  }

  init(ordinal: UInt16) { self.ordinal = ordinal }

  /// Returns the number of an object, which is retained until `release`.
  func number(_ object: AnyObject) -> UInt64 {
    let address = unsafe UInt64(UInt(bitPattern: Unmanaged<AnyObject>.passRetained(object).toOpaque()))
    return address | UInt64(ordinal) << Self.shift
  }

  /// Returns the object of a number from this process. Returns `nil` for another process's number.
  private func own(_ number: UInt64) -> Unmanaged<AnyObject>? {
    guard UInt16(number >> Self.shift) == ordinal else { return nil }
    let address = UInt(number & (1 << Self.shift - 1))
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged.fromOpaque(pointer)
  }

  /// The object of a number. `nil` if an earlier process opened it and it has not been reopened.
  subscript(number: UInt64) -> AnyObject? {
    if let own = unsafe own(number) { return unsafe own.takeUnretainedValue() }
    return inherited.withLock { $0[number] }?.object
  }

  /// Stores a reopened object under the number from an earlier process.
  func adopt(_ number: UInt64, _ object: AnyObject) {
    let reference = Reference(object: object)
    inherited.withLock { $0[number] = reference }
  }

  func release(_ number: UInt64) {
    if let own = unsafe own(number) { return unsafe own.release() }
    _ = inherited.withLock { $0.removeValue(forKey: number) }
  }
}
