internal import Catalogue
internal import Glibc

/// The bytes of a job's input, which can be read and mapped while the object exists.
///
/// The input is mapped because documents are read at random offsets. A document that stays open then uses no memory of
/// the process. Sequential readers use `read`, which keeps no bytes. If the file is truncated, access to the mapping
/// ends the worker with SIGBUS, which fails only this job. `read` then returns fewer bytes.
public final class JobInput: Sendable {
  private let start: UInt
  private let length: Int
  /// The number of bytes between the start of the mapping, which is a page boundary, and the input's first byte.
  private let lead: Int
  private let descriptor: Int32
  private let offset: Int64

  public var count: Int { length - lead }
  public var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start)?.advanced(by: lead), count: count)
  }

  /// Maps `size` bytes from `offset` on. The descriptor may be closed afterwards.
  public init(descriptor: Int32, offset: Int64, size: Int64) throws(JobFailure) {
    guard size > 0 else { throw JobFailure(.damaged, "is empty") }
    var status = stat()
    guard unsafe fstat(descriptor, &status) == 0, Int64(status.st_size) >= offset,
      Int64(status.st_size) - offset >= size
    else {
      throw JobFailure(.system, "is shorter than it was")
    }
    lead = Int(offset % Int64(sysconf(Int32(_SC_PAGESIZE))))
    let (length, overflow) = Int(size).addingReportingOverflow(lead)
    guard !overflow,
      let address = unsafe mmap(nil, length, PROT_READ, MAP_PRIVATE, descriptor, Int(offset) - lead),
      unsafe address != MAP_FAILED
    else { throw JobFailure("cannot be mapped", errno: errno) }
    start = UInt(bitPattern: address)
    self.length = length
    self.offset = offset
    self.descriptor = dup(descriptor)
    guard self.descriptor >= 0 else { throw JobFailure("cannot be read", errno: errno) }
  }

  deinit {
    unsafe munmap(UnsafeMutableRawPointer(bitPattern: start), length)
    close(descriptor)
  }

  /// Reads from an offset. Returns the number of bytes, which is less than the buffer's size only at the end or before
  /// an error. Returns -1 and sets errno if the first read fails.
  public func read(into buffer: UnsafeMutableRawBufferPointer, at place: Int) -> Int {
    guard place >= 0, place < count else { return 0 }
    let wanted = min(buffer.count, count - place)
    var done = 0
    while done < wanted {
      let came = unsafe pread(
        descriptor, buffer.baseAddress?.advanced(by: done), wanted - done, off_t(offset) + place + done)
      if came < 0, errno == EINTR { continue }
      guard came > 0 else { return came < 0 && done == 0 ? -1 : done }
      done += came
    }
    return done
  }

  /// Reads bytes from an offset. Returns fewer than `count` only at the end or before an error.
  public func read(_ count: Int, at place: Int) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
      done = unsafe max(0, read(into: UnsafeMutableRawBufferPointer(buffer), at: place))
    }
  }

  /// Returns a part of the input as an independent input.
  public func part(at place: Int, count: Int) throws(JobFailure) -> JobInput {
    guard place >= 0, count >= 0, place <= self.count, count <= self.count - place else {
      throw JobFailure(.damaged, "ends before a part of it")
    }
    return try JobInput(descriptor: descriptor, offset: offset + Int64(place), size: Int64(count))
  }

  /// Returns whether the bytes start with `prefix`.
  public func starts(with prefix: [UInt8]) -> Bool { unsafe bytes.starts(with: prefix) }

  /// Whether the input is a PDF. Readers search the first bytes for the mark. They open a document without it by the
  /// cross-references at its end.
  public var isPDF: Bool {
    let mark = Array("%PDF-".utf8)
    let head = unsafe bytes.prefix(1024)
    return unsafe Self.has(mark, head)
      || Self.has(Array(" obj".utf8), head)
        && Self.has(Array("startxref".utf8), bytes.suffix(1024))
  }

  private static func has(_ mark: [UInt8], _ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    unsafe bytes.indices.contains { unsafe bytes[$0...].starts(with: mark) }
  }
}

extension JobInput {
  /// Returns the reason why the daemon could not make this member of a bundle, without the member's name. Returns `nil`
  /// if the member exists.
  public func failure(of name: String) -> String? {
    guard starts(with: Bundle.failureMark) else { return nil }
    let reason = unsafe bytes.dropFirst(Bundle.failureMark.count).prefix(Bundle.longestReason)
    let sentence = unsafe String(decoding: reason, as: UTF8.self)
    return sentence.hasPrefix("\(name) ") ? String(sentence.dropFirst(name.count + 1)) : sentence
  }
}
