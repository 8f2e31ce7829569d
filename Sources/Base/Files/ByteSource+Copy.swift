public import Bytes

extension ByteSource {
  /// Writes all bytes to a file, starting at `place`. Throws an interrupted fault if the thread's work is no longer
  /// wanted. Blocks.
  public func copy(to file: TemporaryFile, at place: Int64 = 0) throws(Fault) {
    var offset: Int64 = 0
    while offset < size {
      let piece = try bytes(at: offset, count: Int(min(1 << 20, size - offset)))
      try file.write(piece, at: place + offset)
      offset += Int64(piece.count)
    }
  }
}

extension TemporaryFile {
  /// Writes bytes. Throws if there is not enough space. Blocks on the disk.
  public func write(_ bytes: [UInt8], at offset: Int64) throws(Fault) {
    var fault: Fault?
    unsafe bytes.withUnsafeBytes { bytes in
      do throws(Fault) { unsafe try write(bytes, at: offset) } catch { fault = error }
    }
    if let fault { throw fault }
  }
}
