/// A placeholder for bytes that are in another file, which is missing. Reads throw a fault.
public final class AbsentBytes: ByteSource {
  public let size: Int64
  private let fault: Fault

  public init(size: Int64, _ fault: Fault) {
    self.size = size
    self.fault = fault
  }

  public func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int { throw fault }
}
