public import Bytes
internal import Locks

/// The state of ZIP's traditional encryption (APPNOTE 6.1) at one offset of the data: three keys.
public struct ZipCryptoKeys: Sendable {
  private var first: UInt32 = 0x1234_5678
  private var second: UInt32 = 0x2345_6789
  private var third: UInt32 = 0x3456_7890

  /// The size of the encryption header before the data, in bytes.
  public static let headerSize = 12

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
  }

  public init(password: [UInt8]) {
    let table = Self.table
    for byte in password { update(byte, table) }
  }

  @inline(__always)
  private mutating func update(_ plain: UInt8, _ table: [UInt32]) {
    first = table[Int(UInt8(truncatingIfNeeded: first) ^ plain)] ^ first >> 8
    second = (second &+ first & 0xff) &* 134_775_813 &+ 1
    third = table[Int(UInt8(truncatingIfNeeded: third) ^ UInt8(truncatingIfNeeded: second >> 24))] ^ third >> 8
  }

  /// Decrypts bytes in place.
  public mutating func decrypt(_ bytes: UnsafeMutableRawBufferPointer) {
    let table = Self.table
    var keys = self
    for index in bytes.indices {
      let mix = (keys.third | 2) & 0xffff
      let plain = unsafe bytes[index] ^ UInt8(truncatingIfNeeded: (mix &* (mix ^ 1)) >> 8)
      unsafe bytes[index] = plain
      keys.update(plain, table)
    }
    self = keys
  }
}

/// Decrypts another source. Key states are recorded along the way, so that a second access at any offset is cheap.
public final class ZipCryptoSource: ByteSource {
  public let size: Int64
  private let encrypted: any ByteSource
  /// The distance between recorded states, in bytes.
  private let spacing: Int64
  private let state: UnfairLock<State>

  private struct State {
    /// The keys at each multiple of `spacing` reached so far.
    var noted: [ZipCryptoKeys]
    /// The end of the last read.
    var last: Place
  }

  private struct Place {
    var offset: Int64
    var keys: ZipCryptoKeys
  }

  private static let mostNotes: Int64 = 1 << 16
  /// The maximum number of bytes to decrypt and discard while the kernel waits.
  private static let promptDistance: Int64 = 1 << 20

  /// Creates a source. `encrypted` starts after the encryption header, and `keys` is the state there.
  public init(of encrypted: any ByteSource, keys: ZipCryptoKeys) {
    self.encrypted = encrypted
    size = encrypted.size
    var spacing: Int64 = 256 << 10
    while size / spacing > Self.mostNotes { spacing *= 2 }
    self.spacing = spacing
    state = UnfairLock(State(noted: [keys], last: Place(offset: 0, keys: keys)))
  }

  /// Always nil: nothing that was encrypted may be stored on a disk beyond the mount.
  public var identity: ByteIdentity? { nil }

  public func verify() throws(Fault) { try encrypted.verify() }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    var place = start(for: offset)
    if blocking == .immediate, offset - place.offset > Self.promptDistance { throw .later }
    if place.offset < offset { try pass(&place, to: offset, blocking) }
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    unsafe try encrypted.fill(part, at: offset, blocking)
    unsafe decrypt(part, &place)
    let end = place
    state.withLock { $0.last = end }
    return wanted
  }

  /// Returns the nearest position at or before `offset` whose keys are known.
  private func start(for offset: Int64) -> Place {
    state.withLock { state in
      let index = min(Int(offset / spacing), state.noted.count - 1)
      let noted = Place(offset: Int64(index) * spacing, keys: state.noted[index])
      return state.last.offset <= offset && state.last.offset > noted.offset ? state.last : noted
    }
  }

  /// Decrypts and discards the bytes up to `offset`.
  private func pass(_ place: inout Place, to offset: Int64, _ blocking: BlockingMode) throws(Fault) {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    defer { unsafe block.deallocate() }
    while place.offset < offset {
      try CancellationToken.check()
      let count = Int(min(Int64(block.count), offset - place.offset))
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: block[..<count])
      unsafe try encrypted.fill(part, at: place.offset, blocking)
      unsafe decrypt(part, &place)
    }
  }

  private func decrypt(_ bytes: UnsafeMutableRawBufferPointer, _ place: inout Place) {
    var done = 0
    while done < bytes.count {
      let toNote = Int(spacing - place.offset % spacing)
      let count = min(toNote, bytes.count - done)
      unsafe place.keys.decrypt(UnsafeMutableRawBufferPointer(rebasing: bytes[done..<done + count]))
      place.offset += Int64(count)
      done += count
      if count == toNote { note(place) }
    }
  }

  private func note(_ place: Place) {
    state.withLock { state in
      if place.offset / spacing == Int64(state.noted.count) { state.noted.append(place.keys) }
    }
  }
}
