internal import Conversion
internal import Glibc

/// The bytes of a job's input, mapped for as long as the object lives.
///
/// Mapped, because every library here reads from memory without a copy, and a document that stays open then costs no
/// memory of the process. A file that is cut off under it ends the worker by SIGBUS, which costs this job alone.
public final class JobInput: Sendable {
  private let start: UInt
  private let length: Int
  /// How many bytes lie before the input's first: a mapping starts with a page.
  private let lead: Int

  public var count: Int { length - lead }
  public var bytes: UnsafeRawBufferPointer {
    unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start)?.advanced(by: lead), count: count)
  }

  /// Maps `size` bytes from `offset` on; the descriptor may be closed afterwards.
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
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(bitPattern: start), length) }

  /// Whether the bytes start so.
  public func starts(with prefix: [UInt8]) -> Bool { unsafe bytes.starts(with: prefix) }

  /// Whether it says that it is a PDF: readers look for the mark among the first bytes.
  public var isPDF: Bool {
    let mark = Array("%PDF-".utf8)
    let head = unsafe bytes.prefix(1024)
    return unsafe head.indices.contains { unsafe head[$0...].starts(with: mark) }
  }
}
