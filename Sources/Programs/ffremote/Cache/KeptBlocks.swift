import Bytes
import Glibc
import Jobs
import Locks

/// The blocks of a version of a file that are kept on the disk.
final class KeptBlocks: Sendable {
  private let cache: SourceCache
  private let digest: [UInt8]
  /// The size of the file, in bytes.
  private let size: Int64
  /// The block that was read last. The next read often begins in it.
  private let last = UnfairLock<(number: Int64, bytes: [UInt8])?>(nil)

  /// The size of a block, in bytes. The last one of a file can be smaller.
  static let blockSize: Int64 = 64 << 10

  init(_ cache: SourceCache, _ digest: [UInt8], size: Int64) {
    (self.cache, self.digest, self.size) = (cache, digest, size)
  }

  private func name(_ number: Int64) -> FileName {
    FileName(hexadecimal: digest.prefix(24) + [UInt8](bigEndian: number))
  }

  /// Fills `buffer` if all of its bytes are kept. Otherwise returns false, and the buffer's bytes are undefined. Blocks
  /// for the disk.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
    var done = 0
    while done < buffer.count {
      let (number, start) = (offset + Int64(done)).quotientAndRemainder(dividingBy: Self.blockSize)
      guard let block = block(number, count: Int(min(Self.blockSize, size - number * Self.blockSize))) else {
        return false
      }
      let count = min(block.count - Int(start), buffer.count - done)
      unsafe block.withUnsafeBytes { bytes in
        let part = unsafe UnsafeRawBufferPointer(rebasing: bytes[Int(start)..<Int(start) + count])
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...]).copyMemory(from: part)
      }
      done += count
    }
    return true
  }

  private func block(_ number: Int64, count: Int) -> [UInt8]? {
    if let last = last.withLock({ $0 }), last.number == number { return last.bytes }
    guard count > 0, let bytes = cache.block(name(number), count: count) else { return nil }
    last.withLock { $0 = (number, bytes) }
    return bytes
  }

  /// Keeps the blocks of a range, which begins and ends with one. Does not block.
  ///
  /// - Parameter copy: fills a buffer with the bytes at an offset. It is called later.
  func keep(
    _ range: Range<Int64>, _ copy: @escaping @Sendable (UnsafeMutableRawBufferPointer, _ offset: Int64) -> Void
  ) {
    guard !range.isEmpty, !cache.isOffline else { return }
    cache.keep(cost: range.count) { [self] store in
      for start in stride(from: range.lowerBound, to: range.upperBound, by: Int(Self.blockSize)) {
        let count = Int(min(Self.blockSize, range.upperBound - start))
        let block = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
          unsafe copy(UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count), start)
          filled = count
        }
        guard store(name(start / Self.blockSize), block) else { return }
      }
    }
  }

  /// Keeps the blocks of bytes, which begin and end with one. Does not block.
  func keep(_ bytes: [UInt8], at offset: Int64) {
    unsafe keep(offset..<offset + Int64(bytes.count)) { buffer, start in
      unsafe bytes.withUnsafeBytes { bytes in
        let first = Int(start - offset)
        unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[first..<first + buffer.count]))
      }
    }
  }
}
