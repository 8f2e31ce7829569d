internal import Bytes
internal import Codecs
internal import Entries
internal import Locks

/// The encryption of an entry.
enum Encryption: Equatable, BitwiseCopyable, Sendable {
  case none
  /// Traditional encryption (APPNOTE 6.1).
  case zipCrypto
  /// WinZip's encryption. `version` 2 records no CRC.
  case aes(bits: UInt16, version: UInt8)
  /// Method 99 without an AES extra field.
  case unknownAES
  /// PKWARE's strong encryption (APPNOTE 7).
  case strong

  var leavesOutCRC: Bool {
    if case .aes(_, 2) = self { return true }
    return false
  }

  init(_ header: CentralHeader) {
    // Bit 13: header values are masked.
    if header.flags & 0x2040 != 0, header.isEncrypted {
      self = .strong
    } else if !header.isEncrypted {
      self = .none
    } else if header.method != 99 {
      self = .zipCrypto
    } else if (1...3).contains(header.aesStrength) {
      self = .aes(bits: 64 + 64 * UInt16(header.aesStrength), version: header.aesVersion)
    } else {
      self = .unknownAES
    }
  }
}

/// A cache of the password of each entry, chosen from the configured passwords.
final class EntryPasswords: Sendable {
  private let passwords: Passwords
  private let state = UnfairLock(State())

  private enum Key: Sendable {
    case zipCrypto(ZipCryptoKeys)
    case aes(AESKeys)
  }

  private struct State {
    /// The edition of the passwords that the other fields refer to.
    var edition: UInt64 = 0
    /// The keys by the offset of the entry's local header.
    var found: [Int64: Key] = [:]
    /// The index of the last matching password, which is likely to match again.
    var last = 0
  }

  private static let mostFound = 16_384

  struct Locked {
    let node: ZipNode
    let data: ByteRange
    /// The DOS time in the local header.
    let recordedTime: UInt16
  }

  init(_ passwords: Passwords) { self.passwords = passwords }

  static func noneFits(atByte offset: Int64) -> Fault {
    Fault(
      .locked, "the entry is encrypted and no password fits (mount with -o password_file=FILE)", atByte: offset)
  }

  /// Decrypts an entry and returns the result of `decode`. Throws `locked` if no password fits.
  func open(
    _ locked: Locked, _ blocking: BlockingMode, _ decode: (any ByteSource) throws(Fault) -> any ByteSource
  ) throws(Fault) -> any ByteSource {
    let place = locked.node.localHeaderOffset
    // Rereading the passwords may block, and each attempt takes half a millisecond.
    if blocking == .immediate { throw .later }
    let edition = passwords.now
    let (known, last) = state.withLock { state in
      if state.edition != edition.number { state = State(edition: edition.number) }
      return (state.found[place], state.last)
    }
    if let known { return try decode(plain(locked, known)) }
    let candidates = try candidates(for: locked, among: edition.passwords, last)
    guard let first = candidates.first else { throw EntryPasswords.noneFits(atByte: place) }
    var chosen = first
    // One in 256 wrong passwords passes ZipCrypto's check, so only the content decides.
    if candidates.count > 1, case .zipCrypto = first.key {
      for candidate in candidates {
        guard let bytes = try unlessDelayed({ () throws(Fault) in try decode(plain(locked, candidate.key)) }),
          try isRight(bytes, locked.node)
        else { continue }
        chosen = candidate
        break
      }
    }
    let source = try decode(plain(locked, chosen.key))
    state.withLock { state in
      guard state.edition == edition.number else { return }
      state.last = chosen.index
      if state.found.count >= Self.mostFound { state.found.removeAll() }
      state.found[place] = chosen.key
    }
    return source
  }

  /// Returns the passwords that pass the check, with their keys. For AES, returns at most one.
  private func candidates(
    for locked: Locked, among passwords: [[UInt8]], _ last: Int
  ) throws(Fault) -> [(index: Int, key: Key)] {
    let order = [last] + passwords.indices.filter { $0 != last }
    var fitting: [(index: Int, key: Key)] = []
    for index in order where index < passwords.count {
      guard let key = try key(locked, passwords[index]) else { continue }
      fitting.append((index, key))
      if case .aes = key { break }
    }
    return fitting
  }

  private func key(_ locked: Locked, _ password: [UInt8]) throws(Fault) -> Key? {
    switch locked.node.encryption {
    case .aes(let bits, _):
      let saltSize = AESKeys.saltSize(bits: Int(bits))
      let head = try locked.data.bytes(at: 0, count: saltSize + AESKeys.verifierSize)
      guard let keys = AESKeys(password: password, salt: Array(head[..<saltSize]), bits: Int(bits)),
        keys.verifier == Array(head[saltSize...])
      else { return nil }
      return .aes(keys)
    default:
      var head = try locked.data.bytes(at: 0, count: ZipCryptoKeys.headerSize)
      var keys = ZipCryptoKeys(password: password)
      unsafe head.withUnsafeMutableBytes { unsafe keys.decrypt($0) }
      let check = head[ZipCryptoKeys.headerSize - 1]
      // With a data descriptor, the CRC is unknown when the header is written, so most programs use the time instead.
      let isStreamed = locked.node.flags & 8 != 0
      guard check == UInt8(locked.node.crc >> 24) || isStreamed && check == UInt8(locked.recordedTime >> 8) else {
        return nil
      }
      return .zipCrypto(keys)
    }
  }

  private func plain(_ locked: Locked, _ key: Key) throws(Fault) -> any ByteSource {
    switch key {
    case .zipCrypto(let keys):
      let start = Int64(ZipCryptoKeys.headerSize)
      return ZipCryptoSource(
        of: ByteRange(of: locked.data, start: start, size: locked.data.size - start), keys: keys)
    case .aes(let keys):
      let start = Int64(keys.saltSize + AESKeys.verifierSize)
      let size = locked.data.size - start - Int64(AESKeys.codeSize)
      guard size >= 0 else {
        throw Fault(.damaged, "expected an authentication code", atByte: locked.node.localHeaderOffset)
      }
      let code = try locked.data.bytes(at: start + size, count: AESKeys.codeSize)
      return try AESSource(of: ByteRange(of: locked.data, start: start, size: size), keys: keys, code: code)
    }
  }

  /// Returns whether all of an entry's bytes are readable and match its CRC.
  private func isRight(_ bytes: any ByteSource, _ node: ZipNode) throws(Fault) -> Bool {
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    defer { unsafe block.deallocate() }
    var sum = CRC32()
    var offset: Int64 = 0
    do throws(Fault) {
      while offset < bytes.size {
        try CancellationToken.check()
        let got = unsafe try bytes.read(into: block, at: offset, .blocking)
        if got == 0 { break }
        unsafe sum.update(UnsafeRawBufferPointer(rebasing: block[..<got]))
        offset += Int64(got)
      }
    } catch {
      if error.kind == .damaged { return false }
      throw error
    }
    return offset == node.size && sum.value == node.crc
  }
}
