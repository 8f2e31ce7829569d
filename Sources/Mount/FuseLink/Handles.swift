internal import CFuse3
internal import Synchronization

/// What the kernel calls open files and folders by.
///
/// A handle is the address of an object, and above it the ordinal of the process that gave it. The next process cannot
/// read that address: it opens the file again, and finds it here by the same number.
@safe final class Handles: Sendable {
  /// Addresses have 47 bits; the ordinal is above them.
  private static let shift: UInt64 = 48
  private let ordinal: UInt16
  private let inherited = Mutex<[UInt64: Reference]>([:])

  /// An object that is passed on, whichever thread asks.
  private struct Reference: @unchecked Sendable {
    let object: AnyObject
  }

  init(ordinal: UInt16) { self.ordinal = ordinal }

  /// The number for an object, retained until `release`.
  func number(_ object: AnyObject) -> UInt64 {
    let address = unsafe UInt64(UInt(bitPattern: Unmanaged<AnyObject>.passRetained(object).toOpaque()))
    return address | UInt64(ordinal) << Self.shift
  }

  /// The object of a number that this process gave; nil for another's.
  private func own(_ number: UInt64) -> Unmanaged<AnyObject>? {
    guard UInt16(number >> Self.shift) == ordinal else { return nil }
    let address = UInt(number & (1 << Self.shift - 1))
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged.fromOpaque(pointer)
  }

  /// The object; nil if an earlier process has opened it and it has not been opened again.
  subscript(number: UInt64) -> AnyObject? {
    if let own = unsafe own(number) { return unsafe own.takeUnretainedValue() }
    return inherited.withLock { $0[number] }?.object
  }

  /// What an earlier process has opened is open again.
  func adopt(_ number: UInt64, _ object: AnyObject) {
    let reference = Reference(object: object)
    inherited.withLock { $0[number] = reference }
  }

  func release(_ number: UInt64) {
    if let own = unsafe own(number) { return unsafe own.release() }
    _ = inherited.withLock { $0.removeValue(forKey: number) }
  }
}
