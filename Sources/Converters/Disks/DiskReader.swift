internal import Bytes
public import Catalogue
public import WorkerKit

/// An image or archive with numbered entries, opened by one of the libraries.
public protocol DiskReader: AnyObject {
  /// Returns the number of entries. May read all folders once.
  func countEntries() throws(JobFailure) -> Int

  /// Writes the list of the entries. Throws if the image cannot be read, or an encrypted link unless it is
  /// `withoutPassword`.
  func list(withoutPassword: Bool, to output: JobOutput) throws(JobFailure)

  /// Returns the record of an entry without its names: its kind, size, flags and place.
  func outline(_ entry: Int) -> EntryRecord

  /// Calls `body` with a function that reads the bytes of an entry at any offset. Returns `nil` if they can only be
  /// decoded from the start.
  func withStream<Result>(
    of entry: Int,
    _ body: ((_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) throws(JobFailure) -> Int) throws(JobFailure)
      -> Result
  ) throws(JobFailure) -> Result?

  /// Returns whether the archive was opened without any of these passwords.
  func lacksPassword(_ passwords: [[UInt8]]) -> Bool
}

extension DiskReader {
  /// Returns the size of an entry in bytes.
  public func size(of entry: Int) throws(JobFailure) -> Int64 {
    guard entry < (try countEntries()) else { throw .removedEntry }
    return outline(entry).size
  }

  /// Writes a range of an entry's bytes, or all of them.
  public func write(_ entry: Int, _ range: Range<Int64>?, to output: JobOutput) throws(JobFailure) {
    let size = try size(of: entry)
    let range = range ?? 0..<size
    guard range.lowerBound >= 0, range.upperBound <= size else { throw .unknown }
    let done: Void? = try unsafe withStream(of: entry) { (read) throws(JobFailure) in
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
      defer { unsafe buffer.deallocate() }
      var place = range.lowerBound
      while place < range.upperBound {
        let wanted = min(buffer.count, Int(clamping: range.upperBound - place))
        let piece = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
        guard unsafe try read(piece, place) == wanted else {
          throw JobFailure(.damaged, "ends before \(place + Int64(wanted)) of \(size) bytes")
        }
        try unsafe output.write(UnsafeRawBufferPointer(piece).bytes)
        place += Int64(wanted)
      }
    }
    if done == nil { throw JobFailure(.unsupported, "cannot be read from any offset") }
  }
}

extension JobFailure {
  static var removedEntry: JobFailure { JobFailure(.damaged, "is no longer in the archive") }
}

/// A writer of the records of a list.
struct EntryListWriter {
  private let output: JobOutput
  private var written: [UInt8] = []

  private static let bufferSize = 256 << 10

  init(_ output: JobOutput) { self.output = output }

  mutating func add(_ record: EntryRecord) throws(JobFailure) {
    written += record.bytes
    if written.count >= Self.bufferSize || record.kind == .end {
      try unsafe output.write(written.span.bytes)
      written = []
    }
  }

  /// Writes the last record, with the reason why the list is incomplete, if it is.
  mutating func end(_ access: EntryRecord.Access, _ reason: String?) throws(JobFailure) {
    var end = EntryRecord(.end)
    end.size = access.rawValue
    end.text = Array((reason ?? "").utf8)
    try add(end)
  }

  /// Returns the message about an image that should have `size` bytes. Returns `nil` if it has them.
  static func earlyEnd(_ input: PiecewiseInput, of size: UInt64) -> String? {
    size > UInt64(input.count)
      ? "ends after \(input.count) of \(size) bytes: files may be missing or incomplete" : nil
  }
  static let damage = "is damaged: files may be missing"
  static let unsupported = "uses features that are not read here: files may be missing"
}

extension PiecewiseInput {
  /// Returns the format of the image. Returns `nil` if it has none of them.
  func diskFormat() throws(JobFailure) -> DiskFormat? {
    try DiskFormat.detect(size: count) { (offset, count) throws(JobFailure) in try bytes(count, at: offset) }
  }

  /// The function by which the libraries read an input, which is the context.
  static let reader: @convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafeMutableRawPointer?, Int) -> Int64 = {
    context, offset, buffer, count in
    guard let context = unsafe context else { return -1 }
    let input = unsafe Unmanaged<PiecewiseInput>.fromOpaque(context).takeUnretainedValue()
    return unsafe Int64(
      input.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count), at: Int64(clamping: offset)))
  }
}

extension SparseSource.Piece {
  /// Creates a piece from the numbers of a library.
  init(offset: UInt64, count: UInt64, start: UInt64) {
    self.init(offset: Int64(clamping: offset), count: Int64(clamping: count), start: Int64(clamping: start))
  }
}
