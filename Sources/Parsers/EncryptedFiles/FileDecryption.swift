public import Bytes
public import Codecs
internal import Locks

/// Decrypts office documents that are encrypted with a password: those of Office since 2007, and OpenDocument.
///
/// The passwords are those of the user. The one that fits is kept in memory for each state of a document.
public final class FileDecryption: Sendable {
  private let passwords: Passwords
  private let cache: BlockCache
  private let state = UnfairLock(State())

  private struct State {
    /// The documents by the identifiers of their states.
    var known: [UInt64: Known] = [:]
    /// The last password that was right, which is tried first.
    var last: [UInt8]?
  }

  private struct Known: Sendable {
    /// Nil for a document that is not encrypted.
    let document: (any EncryptedDocument)?
    /// The result of trying the passwords, and their edition. Nil if they have not been tried.
    var result: (edition: UInt64, Result<Opened, Fault>)?
    /// The edition of the passwords of which too many had to be tried for a recognition. Nil if there is none.
    var slowEdition: UInt64?
  }

  /// A document with the password that fits.
  private struct Opened: Sendable {
    let password: [UInt8]
    let decryptor: Decryptor
  }

  private static let mostKnown = 4096
  /// The time after which a recognition tries no further password.
  private static let recognitionTime = Duration.seconds(1)
  fileprivate static let locked = Fault(
    .locked, "requires a password, and no known password fits (-o password_file=FILE)")

  public init(_ passwords: Passwords, _ cache: BlockCache) {
    self.passwords = passwords
    self.cache = cache
  }

  /// Returns the decrypted bytes of an encrypted document, and `bytes` of any other file.
  ///
  /// Throws `locked` if no password fits.
  ///
  /// - Parameters:
  ///   - revision: Identifies the state of the file.
  ///   - purpose: With `recognition`, no further password is tried after a second.
  public func plain(
    _ bytes: any ByteSource, of revision: UInt64, for purpose: DecryptionPurpose = .reading, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    let head = try unlessDelayed { () throws(Fault) in
      try bytes.bytes(at: 0, atMost: EncryptedOpenDocument.headSize, blocking)
    }
    guard let head else { return bytes }
    guard let read = reader(ofFileStartingWith: head) else { return bytes }
    var known = state.withLock { $0.known[revision] }
    if let known, known.document == nil { return bytes }
    if blocking == .immediate { throw .later }
    let found =
      if let known { known.document } else {
        // A document that cannot be read fails in the views.
        try unlessDelayed { () throws(Fault) in try read(bytes) } ?? nil
      }
    guard let document = found else {
      keep(Known(document: nil), revision)
      return bytes
    }
    let edition = passwords.now
    if let (number, result) = known?.result, number == edition.number {
      return try unlocked(bytes, document, result)
    }
    let isQuick = purpose == .recognition
    if isQuick, known?.slowEdition == edition.number { throw Self.locked }
    var isUnfinished = false
    let result: Result<Opened, Fault>
    do throws(Fault) {
      let end = isQuick ? ContinuousClock.now + Self.recognitionTime : nil
      let attempt = try opened(document, bytes, edition.passwords, until: end)
      if attempt == nil { isUnfinished = true }
      result = attempt ?? .failure(Self.locked)
    } catch {
      guard error.kind == .locked || error.kind == .damaged else { throw error }
      result = .failure(error)
    }
    try bytes.verify()
    if isUnfinished {
      keep(Known(document: document, slowEdition: edition.number), revision)
      throw Self.locked
    }
    known = Known(document: document, result: (edition.number, result))
    if let known { keep(known, revision) }
    return try unlocked(bytes, document, result)
  }

  /// Returns the function that finds the encrypted document in a file. Returns `nil` if a file that starts with `head`
  /// has none.
  private func reader(
    ofFileStartingWith head: [UInt8]
  ) -> ((any ByteSource) throws(Fault) -> (any EncryptedDocument)?)? {
    if head.starts(with: CompoundFile.signature) { return EncryptedPackage.document }
    if head.starts(with: EncryptedRar.signature) { return EncryptedRar.document }
    if head.starts(with: EncryptedOldRar.signature) { return EncryptedOldRar.document }
    guard EncryptedOpenDocument.isStart(head) else { return nil }
    return { [cache] (bytes) throws(Fault) in try EncryptedOpenDocument.document(in: bytes, cache) }
  }

  private func unlocked(
    _ bytes: any ByteSource, _ document: any EncryptedDocument, _ result: Result<Opened, Fault>
  ) throws(Fault) -> any ByteSource {
    let opened: Opened
    switch result {
    case .success(let found): opened = found
    case .failure where document.isListed: return bytes
    case .failure(let fault): throw fault
    }
    let passwords = passwords
    return UnlockedSource(try opened.decryptor(bytes)) {
      passwords.now.passwords.contains(opened.password)
    }
  }

  private func keep(_ known: Known, _ revision: UInt64) {
    state.withLock { state in
      if state.known.count >= Self.mostKnown { state.known = [:] }
      state.known[revision] = known
    }
  }

  /// Returns a document with the first password that fits, or the failure of all. Returns `nil` if some have not been
  /// tried before `end`.
  private func opened(
    _ document: any EncryptedDocument, _ bytes: any ByteSource, _ passwords: [[UInt8]],
    until end: ContinuousClock.Instant?
  ) throws(Fault) -> Result<Opened, Fault>? {
    let last = state.withLock { $0.last }.flatMap { passwords.contains($0) ? $0 : nil }
    for password in [last].compactMap(\.self) + passwords.filter({ $0 != last }) {
      try CancellationToken.check()
      if let end, ContinuousClock.now > end { return nil }
      guard let found = try document.decryptor(password, bytes) else { continue }
      state.withLock { $0.last = password }
      return .success(Opened(password: password, decryptor: found))
    }
    if passwords.isEmpty, let unsupported = document as? UnsupportedEncryption { throw unsupported.part.fault }
    return .failure(Self.locked)
  }
}

/// Decrypted bytes that can be read as long as the user's passwords contain the right one.
private final class UnlockedSource: ByteSource {
  private let bytes: any ByteSource
  private let isUnlocked: @Sendable () -> Bool
  var size: Int64 { bytes.size }
  /// Always nil: nothing that was encrypted may be stored on a disk beyond the mount.
  var identity: ByteIdentity? { nil }

  /// - Parameter isUnlocked: Whether the passwords contain the right one. May block.
  init(_ bytes: any ByteSource, isUnlocked: @escaping @Sendable () -> Bool) {
    self.bytes = bytes
    self.isUnlocked = isUnlocked
  }

  func verify() throws(Fault) { try bytes.verify() }
  func assurance(of range: Range<Int64>) -> Assurance { bytes.assurance(of: range) }

  func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    if blocking == .immediate { throw .later }
    guard isUnlocked() else { throw FileDecryption.locked }
    return unsafe try bytes.read(into: buffer, at: offset, blocking)
  }
}
