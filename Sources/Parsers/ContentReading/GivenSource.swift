internal import Bytes

/// A source whose bytes the program that uses the package provides.
final class GivenSource: ByteSource {
  let size: Int64
  private let reading: @Sendable (Range<Int64>) throws -> [UInt8]

  init(size: Int64, _ reading: @escaping @Sendable (Range<Int64>) throws -> [UInt8]) {
    self.size = Bounds.size(size)
    self.reading = reading
  }

  var identity: ByteIdentity? { nil }
  var isSettling: Bool { false }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size, buffer.count > 0 else { return 0 }
    let wanted = min(Int64(buffer.count), size - offset)
    let bytes: [UInt8]
    do { bytes = try reading(offset..<offset + wanted) } catch let error as ReadingError {
      throw Fault(error)
    } catch { throw Fault(.interrupted, "\(error)", atByte: offset) }
    guard bytes.count == wanted else {
      throw Fault(.damaged, "expected \(wanted) bytes, found \(bytes.count)", atByte: offset)
    }
    unsafe buffer.copyBytes(from: bytes)
    return bytes.count
  }
}

extension Fault {
  /// Creates a fault from an error that is passed through a source.
  fileprivate init(_ error: ReadingError) {
    let kind: Kind =
      switch error.code {
      case .damaged: .damaged
      case .unsupported: .unsupported
      case .locked: .locked
      case .tooLarge: .limit
      case .changed: .changed
      case .system: .system(error.systemError ?? 0)
      default: .interrupted
      }
    self.init(kind, error.reason, atByte: error.offset)
  }
}
