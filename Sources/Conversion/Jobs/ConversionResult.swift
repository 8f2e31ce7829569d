public import Bytes
public import Catalogue
public import Files
internal import Glibc

/// A complete conversion result, in memory or in a file that is open as long as this object exists.
public final class ConversionResult: ByteSource {
  private enum Storage {
    case file(TemporaryFile)
    /// Used for parts of results and for series, which are numerous: each file needs a descriptor.
    case memory([UInt8])
  }

  private let storage: Storage
  public let size: Int64
  public let identity: ByteIdentity?
  /// The state of a cached file, which can be changed by its name. `nil` if the file is not cached.
  private let kept: FileStatus?

  init(_ file: TemporaryFile, size: Int64, identity: ByteIdentity?, kept: FileStatus?) {
    storage = .file(file)
    self.size = size
    self.identity = identity
    self.kept = kept
  }

  /// Creates a part of a result, or with an identity a small result.
  init(part bytes: [UInt8], identity: ByteIdentity? = nil) {
    storage = .memory(bytes)
    size = Int64(bytes.count)
    self.identity = identity
    kept = nil
  }

  var isInMemory: Bool {
    if case .memory = storage { true } else { false }
  }

  /// Creates a result that only this mount can access.
  public convenience init(_ file: TemporaryFile, size: Int64, identity: ByteIdentity?) {
    self.init(file, size: size, identity: identity, kept: nil)
  }

  /// Throws if the file was changed in the cache after it was verified.
  private func check() throws(Fault) {
    guard let kept, case .file(let file) = storage else { return }
    let now = try file.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw) }
    guard now.revision == kept.revision else {
      throw Fault(.system(EIO), "its conversion was changed in the cache; open it again")
    }
  }

  /// Whether the bytes have not changed since they were made.
  var isWhole: Bool { (try? check()) != nil }

  public func willMove(at offset: Int64, count: Int, _ blocking: BlockingMode) throws(Fault) { try check() }

  public func verify() throws(Fault) { try check() }

  public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
    -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
    switch storage {
    case .file(let file): unsafe try file.read(into: part, at: offset)
    case .memory(let bytes): unsafe part.copyBytes(from: bytes[Int(offset)...].prefix(wanted))
    }
    // Checked after the read: bytes that were read before any change are intact.
    try check()
    return wanted
  }

  public func extent(at offset: Int64, count: Int) -> Extent? {
    guard offset >= 0, offset < size, case .file(let file) = storage else { return nil }
    return Extent(holder: file, offset: offset, count: Int(min(Int64(count), size - offset)))
  }
}

/// The identifier of a result in all mounts.
struct RenditionName: Hashable, Sendable {
  /// The digest of the source's identity, the recipe and the seal.
  let digest: [UInt8]

  /// Creates a name. `seal` represents the passwords with which the source was opened, so that results are found only
  /// with the same passwords.
  init(_ source: ByteIdentity, _ recipe: Recipe, seal: [UInt8] = []) {
    let words = [Recipe.version, UInt64(source.steps.count)] + source.file + source.steps
    digest = SHA256.digest([UInt8](littleEndian: words) + Array(recipe.description.utf8) + seal)
  }

  /// The digest as 64 hexadecimal digits.
  var fileName: FileName { FileName(hexadecimal: digest) }
}

extension FileName {
  /// Creates a name of the hexadecimal digits of some bytes. Those of a `DiskCache` have 64 digits.
  package init(hexadecimal bytes: [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    self.init(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}

extension ByteIdentity {
  /// Returns the identity of the result of a recipe.
  public func converted(by recipe: Recipe) -> ByteIdentity {
    let digest = SHA256.digest(Array(recipe.description.utf8))
    return adding(.convert, UInt64(bigEndianBytes: digest[0..<8]), UInt64(bigEndianBytes: digest[8..<16]))
  }
}
