internal import Bytes
internal import CSevenZip
internal import Catalogue
public import WorkerKit

/// An image or archive that 7-Zip's library reads.
@safe public final class DiskArchive: DiskReader {
  let input: PiecewiseInput
  let format: DiskFormat
  private let handle: OpaquePointer
  private let password: [UInt8]?
  /// Memory for the library's answers.
  private var areas: [ffmount_7z_area] = []
  /// The number of entries.
  let count: Int

  /// The maximum number of zeros that the library writes to find the stored bytes of a file.
  private static let mostZeros: Int64 = 8 << 30
  /// The maximum number of characters of a path or a link's target that are read.
  private static let longestText = 16 << 10

  /// Opens an archive with the first of the passwords that opens it, or without one if there are none.
  public convenience init(_ input: PiecewiseInput, passwords: [[UInt8]]) throws(JobFailure) {
    try self.init(input, password: passwords.first)
  }

  private init(_ input: PiecewiseInput, password: [UInt8]?) throws(JobFailure) {
    let detected = try input.diskFormat()
    let isSevenZip = try input.bytes(6, at: 0) == [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c]
    guard let format = isSevenZip ? .sevenZip : detected else {
      throw JobFailure(.damaged, "is not a disk image")
    }
    self.input = input
    self.format = format
    self.password = password
    var source = unsafe ffmount_7z_input(
      context: Unmanaged.passUnretained(input).toOpaque(), size: UInt64(input.count), read: PiecewiseInput.reader)
    var opened: OpaquePointer?
    let number = try DiskLibrary.number(of: format)
    let text = password.map { $0.map { CChar(bitPattern: $0) } + [0] }
    let result = unsafe ffmount_7z_open(number, &source, text, &opened)
    guard result == FFMOUNT_7Z_OK, let handle = unsafe opened else { throw Self.failure(result) }
    unsafe self.handle = unsafe handle
    count = unsafe Int(ffmount_7z_count(handle))
  }

  deinit { unsafe ffmount_7z_close(handle) }

  static func failure(_ result: ffmount_7z_result) -> JobFailure {
    switch result {
    case FFMOUNT_7Z_UNSUPPORTED: JobFailure(.unsupported, "uses a method that is not read here")
    case FFMOUNT_7Z_LOCKED: .locked
    case FFMOUNT_7Z_NO_MEMORY: .noMemory()
    case FFMOUNT_7Z_STOPPED: PiecewiseInput.failure
    default: JobFailure(.damaged, "cannot be read")
    }
  }

  // MARK: Passwords

  public func lacksPassword(_ passwords: [[UInt8]]) -> Bool {
    !passwords.isEmpty && !passwords.contains { $0 == password }
  }

  /// Returns the index of the first password that opens an archive and decrypts its first encrypted file.
  public static func password(for input: PiecewiseInput, among passwords: [[UInt8]]) throws(JobFailure) -> Int? {
    for (index, password) in passwords.enumerated() {
      do throws(JobFailure) {
        let archive = try DiskArchive(input, password: password)
        let first = (0..<archive.count).first {
          archive.flag(FFMOUNT_7Z_IS_ENCRYPTED, $0) && archive.number(FFMOUNT_7Z_SIZE, $0) ?? 0 > 0
        }
        guard let first else { return index }
        var isRight = false
        try unsafe archive.extract([first]) { _ in
          true
        } end: { _, result in
          isRight = result == FFMOUNT_7Z_OK
          return true
        }
        if isRight { return index }
      } catch {
        guard error.failure == .locked || error.failure == .damaged else { throw error }
      }
    }
    return nil
  }

  public func countEntries() -> Int { count }

  // MARK: Properties

  func number(_ property: ffmount_7z_property, _ entry: Int) -> UInt64? {
    var value: UInt64 = 0
    return unsafe ffmount_7z_number(handle, UInt32(clamping: entry), property, &value) ? value : nil
  }

  func flag(_ property: ffmount_7z_property, _ entry: Int) -> Bool { number(property, entry) ?? 0 != 0 }

  /// Returns a number of the archive itself.
  func number(_ property: ffmount_7z_property) -> UInt64? {
    var value: UInt64 = 0
    return unsafe ffmount_7z_archive_number(handle, property, &value) ? value : nil
  }

  func time(_ property: ffmount_7z_property, _ entry: Int) -> Timestamp? {
    var (value, rest): (UInt64, UInt32) = (0, 0)
    guard unsafe ffmount_7z_time(handle, UInt32(clamping: entry), property, &value, &rest), value > 0 else {
      return nil
    }
    let second: UInt64 = 10_000_000
    // From 1601 to 1970.
    let seconds = Int64(value / second) - 11_644_473_600
    return Timestamp(seconds: seconds, nanoseconds: Int32(value % second) * 100 + Int32(min(rest, 99)))
  }

  func text(_ property: ffmount_7z_property, _ entry: Int) -> [UInt8]? {
    var characters = [UInt32](repeating: 0, count: 512)
    while true {
      let length = unsafe ffmount_7z_text(
        handle, UInt32(clamping: entry), property, &characters, characters.count)
      guard length >= 0 else { return nil }
      if length > characters.count, characters.count < Self.longestText {
        characters = [UInt32](repeating: 0, count: Self.longestText)
        continue
      }
      return Self.bytes(of: characters.prefix(Int(length)), withEscapes: format.hasNamesOfBytes)
    }
  }

  /// Returns a text of the library as UTF-8. Its characters outside the Basic Multilingual Plane are surrogates.
  ///
  /// - Parameter hasEscapes: Whether characters from U+EF80 to U+EFFF are bytes that are not UTF-8.
  private static func bytes(of characters: ArraySlice<UInt32>, withEscapes hasEscapes: Bool) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = characters
    func append(_ character: UInt32) {
      if let encoded = UTF8.encode(Unicode.Scalar(character) ?? "\u{fffd}") { bytes += encoded }
    }
    while let character = rest.popFirst() {
      if hasEscapes, (0xef80...0xefff).contains(character) {
        bytes.append(UInt8(truncatingIfNeeded: character))
      } else if (0xd800..<0xdc00).contains(character), let low = rest.first, (0xdc00..<0xe000).contains(low) {
        rest.removeFirst()
        append(0x10000 + (character - 0xd800) << 10 + (low - 0xdc00))
      } else {
        append(character)
      }
    }
    return bytes
  }

  /// Returns the reparse point of an entry of Windows, with its header. Returns `nil` if there is none.
  func reparsePoint(of entry: Int) -> [UInt8]? {
    // [MS-FSCC] 2.1.2.
    let largest = 16 << 10
    let point = unsafe [UInt8](unsafeUninitializedCapacity: largest) { buffer, count in
      count = unsafe ffmount_7z_reparse_point(handle, UInt32(clamping: entry), buffer.baseAddress, largest)
    }
    return point.isEmpty ? nil : point
  }

  // MARK: Bytes

  /// Opens the bytes of an entry. Returns `nil` if they can only be decoded from the start. Those of 7z always are: the
  /// library would decode a block for each entry.
  private func stream(of entry: Int) -> OpaquePointer? {
    format == .sevenZip ? nil : unsafe ffmount_7z_stream_open(handle, UInt32(clamping: entry))
  }

  public func withStream<Result>(
    of entry: Int,
    _ body: ((_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws(JobFailure) -> Int) throws(JobFailure)
      -> Result
  ) throws(JobFailure) -> Result? {
    guard let stream = unsafe stream(of: entry) else { return nil }
    defer { unsafe ffmount_7z_stream_close(stream) }
    return try unsafe body { (buffer, offset) throws(JobFailure) in
      let count = unsafe ffmount_7z_stream_read(stream, UInt64(max(0, offset)), buffer.baseAddress, buffer.count)
      guard (0...Int64(buffer.count)).contains(count) else { throw JobFailure(.damaged, "cannot be decoded") }
      return Int(count)
    }
  }

  /// Returns the pieces of the image that are the first `size` bytes of an entry. All other bytes are zeros.
  ///
  /// Returns `nil` if bytes have to be decoded, if there are too many zeros, or if the `budget` of steps does not
  /// suffice.
  func pieces(of entry: Int, size: Int64, budget: inout UInt64) -> [SparseSource.Piece]? {
    guard size - input.count <= Self.mostZeros,
      let stream = unsafe stream(of: entry)
    else { return nil }
    defer { unsafe ffmount_7z_stream_close(stream) }
    if areas.isEmpty { areas = Array(repeating: ffmount_7z_area(), count: EntryRecord.mostPieces) }
    let count = unsafe ffmount_7z_stream_areas(handle, stream, UInt64(max(0, size)), &areas, areas.count, &budget)
    guard (0...Int64(areas.count)).contains(count) else { return nil }
    let pieces = areas[..<Int(count)].map { SparseSource.Piece(offset: $0.offset, count: $0.count, start: $0.start) }
    return SparseSource.areValid(pieces, size: size, stored: input.count) ? pieces : nil
  }

  /// Whether an entry can be read at any offset.
  func hasStream(_ entry: Int) -> Bool {
    guard let stream = unsafe stream(of: entry) else { return false }
    unsafe ffmount_7z_stream_close(stream)
    return true
  }

  /// Decodes some entries, ordered by their numbers. The closures return false to end.
  ///
  /// - Parameters:
  ///   - write: Takes the next bytes of the entry.
  ///   - end: Is called with the entry and its result.
  func extract(
    _ entries: [Int], begin: (Int) -> Void = { _ in }, write: (UnsafeRawBufferPointer) -> Bool,
    end: (Int, ffmount_7z_result) -> Bool
  ) throws(JobFailure) {
    let numbers = entries.map { UInt32(clamping: $0) }
    let result = withoutActuallyEscaping(begin) { begin in
      unsafe withoutActuallyEscaping(write) { write in
        withoutActuallyEscaping(end) { end in
          let calls = unsafe ExtractionCalls(begin, write, end)
          return withExtendedLifetime(calls) {
            var output = unsafe calls.output
            return unsafe ffmount_7z_extract(handle, numbers, UInt32(clamping: numbers.count), &output)
          }
        }
      }
    }
    if result != FFMOUNT_7Z_OK { throw Self.failure(result) }
  }
}

/// The functions that the library calls with the bytes of entries.
@safe private final class ExtractionCalls {
  private let begin: (Int) -> Void
  private let write: (UnsafeRawBufferPointer) -> Bool
  private let end: (Int, ffmount_7z_result) -> Bool
  private var entry = 0

  init(
    _ begin: @escaping (Int) -> Void, _ write: @escaping (UnsafeRawBufferPointer) -> Bool,
    _ end: @escaping (Int, ffmount_7z_result) -> Bool
  ) {
    self.begin = begin
    unsafe self.write = write
    self.end = end
  }

  var output: ffmount_7z_output {
    unsafe ffmount_7z_output(
      context: Unmanaged.passUnretained(self).toOpaque(),
      begin: { context, entry in
        guard let calls = unsafe ExtractionCalls.object(context) else { return false }
        calls.entry = Int(entry)
        calls.begin(calls.entry)
        return true
      },
      write: { context, bytes, count in
        guard let calls = unsafe ExtractionCalls.object(context) else { return false }
        return unsafe calls.write(UnsafeRawBufferPointer(start: bytes, count: count))
      },
      end: { context, result in
        guard let calls = unsafe ExtractionCalls.object(context) else { return false }
        return calls.end(calls.entry, result)
      })
  }

  private static func object(_ context: UnsafeMutableRawPointer?) -> ExtractionCalls? {
    unsafe context.map { unsafe Unmanaged<ExtractionCalls>.fromOpaque($0).takeUnretainedValue() }
  }
}
