/// A path component: any bytes except `/` and NUL, as on Linux. No encoding is assumed.
public struct FileName: Sendable {
  /// The bytes with the terminating NUL that system calls need.
  let terminated: [UInt8]

  public init(_ bytes: some Collection<UInt8>) {
    let count = bytes.count
    terminated = unsafe [UInt8](unsafeUninitializedCapacity: count + 1) { buffer, initialized in
      _ = unsafe buffer.initialize(from: bytes)
      unsafe buffer.initializeElement(at: count, to: 0)
      initialized = count + 1
    }
  }

  public init(_ string: String) { self.init(string.utf8) }

  /// Copies a NUL-terminated string.
  public init(_ pointer: UnsafePointer<CChar>) {
    var count = 0
    while unsafe pointer[count] != 0 { count += 1 }
    unsafe self.init(UnsafeRawBufferPointer(start: pointer, count: count))
  }

  public var bytes: ArraySlice<UInt8> { terminated.dropLast() }
  /// The length in bytes.
  public var count: Int { terminated.count - 1 }

  public func withCString<Result, Failure: Error>(
    _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    // CChar and UInt8 have the same layout. The array is never empty.
    var outcome: Swift.Result<Result, Failure>?
    unsafe terminated.withUnsafeBytes { buffer in
      let pointer = unsafe buffer.baseAddress!.assumingMemoryBound(to: CChar.self)
      do throws(Failure) { outcome = unsafe .success(try body(pointer)) } catch { outcome = .failure(error) }
    }
    return try outcome!.get()
  }

  /// The name for display. Bytes that are not UTF-8 are shown as U+FFFD.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension FileName: Hashable {
  public static func == (one: FileName, other: FileName) -> Bool { one.terminated == other.terminated }

  public func hash(into hasher: inout Hasher) {
    unsafe terminated.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}

extension FileName: ExpressibleByStringLiteral {
  public init(stringLiteral value: StaticString) { self.init(value.description) }
}

extension FileName {
  /// The extension after the last dot. Nil if there is none, or if the last dot is the first or last byte.
  public var fileExtension: FileExtension? { FileExtension(ofName: bytes) }

  /// Returns the name without `suffix`. Returns `nil` if the name does not end in it or nothing would be left.
  public func dropping(suffix: StaticString) -> FileName? {
    let length = suffix.utf8CodeUnitCount
    guard count > length else { return nil }
    let start = count - length
    for index in 0..<length where unsafe terminated[start + index] != suffix.utf8Start[index] { return nil }
    return FileName(terminated[0..<start])
  }

  public func appending(_ suffix: StaticString) -> FileName {
    unsafe FileName(Array(bytes) + UnsafeBufferPointer(start: suffix.utf8Start, count: suffix.utf8CodeUnitCount))
  }
}

/// A file extension in lower case (ASCII), packed into one 64-bit word. All extensions over eight bytes have the same
/// value, which no format uses.
public struct FileExtension: Hashable, Sendable {
  private let packed: UInt64

  public init(_ bytes: some Collection<UInt8>) {
    packed = bytes.count > 8 ? 0 : bytes.reduce(0) { $0 << 8 | UInt64($1 >= 65 && $1 <= 90 ? $1 | 0x20 : $1) }
  }

  /// The hash for an in-memory table.
  var hash: Int { Int(truncatingIfNeeded: (packed &* 0x9e37_79b9_7f4a_7c15) >> 32) }

  /// The extension for display, without the dot.
  public var text: String {
    let bytes = [UInt8](bigEndian: packed)
    return String(decoding: bytes.drop { $0 == 0 }, as: UTF8.self)
  }
}

extension FileExtension {
  init?(ofName name: ArraySlice<UInt8>) {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex, dot + 1 < name.endIndex else {
      return nil
    }
    self.init(name[(dot + 1)...])
  }
}

extension FileExtension: ExpressibleByStringLiteral {
  public init(stringLiteral value: StaticString) { self.init(value.description.utf8) }
}
