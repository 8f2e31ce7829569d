package import Bytes

/// Bytes that end too early. All existing bytes can be read, and later reads throw the fault, so copies of incomplete
/// data fail.
package final class EarlyEnd: EndingEarly {
  private let bytes: any ByteSource
  package let fault: Fault

  /// Creates a source. The size of `bytes` has to be known.
  package init(_ bytes: any ByteSource, _ fault: Fault) {
    self.bytes = bytes
    self.fault = fault
  }

  /// The number of bytes and one. A reader of all bytes thus requests one that throws.
  package var size: Int64 { Bounds.sum(bytes.size, 1) }
  package var earlyEnd: (bytes: any ByteSource, fault: Fault)? { (bytes, fault) }
  /// Always false. With a known size, the kernel would stop reading before the fault.
  package var hasKnownSize: Bool { false }
  package var identity: ByteIdentity? { bytes.identity }
  package var isSettling: Bool { bytes.isSettling }
  package func assurance(of range: Range<Int64>) -> Assurance { bytes.assurance(of: range) }
  package func verify() throws(Fault) { try bytes.verify() }

  package func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> Int {
    let count = unsafe try bytes.read(into: buffer, at: offset, blocking)
    if count == 0, unsafe !buffer.isEmpty { throw fault }
    return count
  }

  package func next(_ area: Area, from offset: Int64) throws(Fault) -> Int64? { try bytes.next(area, from: offset) }
  package func workAhead(of offset: Int64) -> WorkAhead { bytes.workAhead(of: offset) }
  package func prepare(at offset: Int64) { bytes.prepare(at: offset) }
}

/// A source that may end too early.
package protocol EndingEarly: ByteSource {
  /// The bytes before the end, and the reason. Nil if the source does not end too early.
  var earlyEnd: (bytes: any ByteSource, fault: Fault)? { get }
}

extension ByteSource {
  /// The bytes before an early end, and its reason. Nil if the source is not known to end too early.
  package var earlyEnd: (bytes: any ByteSource, fault: Fault)? { (self as? any EndingEarly)?.earlyEnd }

  /// The bytes before an early end, for readers that find out by themselves what is missing.
  package var available: any ByteSource { earlyEnd?.bytes ?? self }
}
