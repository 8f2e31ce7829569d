internal import Bytes
internal import Files
internal import Glibc

extension DescriptorHolder {
  /// Calls `body` with a read-only descriptor, even if this one is writable.
  func withReadOnlyDescriptor<Result, Failure: Error>(
    failing: (Fault) -> Failure, _ body: (Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withDescriptor(failing: failing) { (raw) throws(Failure) in
      if fcntl(raw, F_GETFL) & O_ACCMODE == O_RDONLY { return try body(raw) }
      let other: Descriptor
      do throws(Fault) { other = try Descriptor.open(path: "/proc/self/fd/\(raw)", for: .reading) } catch {
        throw failing(error)
      }
      return try body(other.raw)
    }
  }

  /// Calls `body`, whose errors can be of another type. `failing` converts a fault to that type.
  func withDescriptor<Result, Failure: Error>(
    failing: (Fault) -> Failure, _ body: (Int32) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    var outcome: Swift.Result<Result, Failure>?
    do throws(Fault) {
      try withDescriptor { (raw) throws(Fault) in
        do throws(Failure) { outcome = .success(try body(raw)) } catch { outcome = .failure(error) }
      }
    } catch { throw failing(error) }
    guard let outcome else { throw failing(Fault(.system(EBADF))) }
    return try outcome.get()
  }
}
