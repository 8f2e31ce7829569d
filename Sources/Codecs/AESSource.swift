public import Bytes
internal import Synchronization

/// Decrypts another source at any offset. What is read front to back is authenticated along the way, and the read that
/// completes it fails when the code is wrong; reads that leave out a part go unchecked.
public final class AESSource: ByteSource {
  public let size: Int64
  private let encrypted: any ByteSource
  private let keys: AESKeys
  private let code: [UInt8]
  private let check: Mutex<Check>

  private struct Check: ~Copyable {
    /// Up to where bytes are taken in.
    var next: Int64 = 0
    var sum: HMACSHA1
    var isPassed = false
    var fault: Fault?
  }

  /// The kernel's readahead may skip this much and come back to it.
  private static let longestGap: Int64 = 4 << 20
  private static let blockSize = 256 << 10

  /// `encrypted` is the data alone, `code` what was recorded to authenticate them.
  public init(of encrypted: any ByteSource, keys: AESKeys, code: [UInt8]) throws(Fault) {
    self.encrypted = encrypted
    self.keys = keys
    self.code = code
    size = encrypted.size
    check = Mutex(Check(sum: try HMACSHA1(key: keys.authentication)))
  }

  /// None: nothing of what was encrypted may outlive the mount on a disk.
  public var identity: ByteIdentity? { nil }

  public func verify() throws(Fault) { try encrypted.verify() }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    let got = unsafe try encrypted.read(into: part, at: offset, patience)
    guard got == wanted else { throw Fault(.damaged, "expected \(wanted) encrypted bytes, found \(got)") }
    unsafe try authenticate(UnsafeRawBufferPointer(part), at: offset, patience)
    unsafe try AESCounter(key: keys.cipher).apply(to: part, at: offset)
    return wanted
  }

  private func authenticate(_ bytes: UnsafeRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) {
    var fault: Fault?
    check.withLock { check in
      fault = check.fault
      let end = offset + Int64(bytes.count)
      guard !check.isPassed, fault == nil, end > check.next, offset - check.next <= Self.longestGap else { return }
      do throws(Fault) {
        if check.next < offset { try takeIn(&check, to: offset, patience) }
        unsafe check.sum.update(UnsafeRawBufferPointer(rebasing: bytes[Int(check.next - offset)...]))
        check.next = end
        if end == size { try finish(&check) }
      } catch {
        fault = error
        if error.kind == .damaged { check.fault = error }
      }
    }
    if let fault { throw fault }
  }

  /// Takes in what a read left out.
  private func takeIn(_ check: inout Check, to offset: Int64, _ patience: Patience) throws(Fault) {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
    defer { unsafe block.deallocate() }
    while check.next < offset {
      let wanted = Int(min(Int64(Self.blockSize), offset - check.next))
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: block[..<wanted])
      let got = unsafe try encrypted.read(into: part, at: check.next, patience)
      guard got == wanted else { throw Fault(.damaged, "expected \(wanted) encrypted bytes, found \(got)") }
      unsafe check.sum.update(UnsafeRawBufferPointer(part))
      check.next += Int64(got)
    }
  }

  private func finish(_ check: inout Check) throws(Fault) {
    guard check.sum.finish().starts(with: code), !code.isEmpty else {
      throw Fault(.damaged, "the authentication code does not fit the encrypted data")
    }
    check.isPassed = true
  }
}
