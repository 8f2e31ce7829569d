import Bytes
import Codecs
import Tree

/// Compresses the files of a ZIP archive, one after the other. For one thread at a time.
final class ZipPacker {
  /// Bytes that were read, and their compressed form.
  struct Part {
    let bytes: [UInt8]
    let packed: [UInt8]
    /// Whether this is the last part of the file.
    let isLast: Bool
  }

  private let deflater = Deflater()
  /// The maximum size of a read, in bytes.
  static let piece = 128 << 10
  /// The size of the sample that determines whether a file is compressed, in bytes.
  private static let sample = 32 << 10

  /// Reads and compresses the beginning of a file. Returns `nil` if the file is to be stored: its name is that of
  /// compressed data, or its beginning does not shrink by a sixteenth.
  func begin(_ file: Tree.OpenFile, named name: FileName) throws(Fault) -> Part? {
    if MediaType.of(name).map(MediaType.isPacked) ?? false { return nil }
    let bytes = try read(file, at: 0)
    if bytes.isEmpty { return nil }
    let isWhole = file.source.hasKnownSize && Int64(bytes.count) == file.source.size
    let sample = isWhole ? bytes[...] : bytes.prefix(Self.sample)
    deflater.begin()
    var packed: [UInt8] = []
    unsafe deflater.deflate(sample.span.bytes, isLast: true, to: &packed)
    guard packed.count <= sample.count - (sample.count + 15) / 16 else { return nil }
    if !isWhole {
      packed = []
      deflater.begin()
      unsafe deflater.deflate(bytes.span.bytes, isLast: false, to: &packed)
    }
    return Part(bytes: bytes, packed: packed, isLast: isWhole)
  }

  /// Reads and compresses the next bytes.
  func next(_ file: Tree.OpenFile, at offset: Int64) throws(Fault) -> Part {
    let bytes = try read(file, at: offset)
    var packed: [UInt8] = []
    unsafe deflater.deflate(bytes.span.bytes, isLast: bytes.isEmpty, to: &packed)
    return Part(bytes: bytes, packed: packed, isLast: bytes.isEmpty)
  }

  private func read(_ file: Tree.OpenFile, at offset: Int64) throws(Fault) -> [UInt8] {
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.piece) { room, count in
      do throws(Fault) { count = unsafe try file.read(into: UnsafeMutableRawBufferPointer(room), at: offset) } catch {
        fault = error
      }
    }
    if let fault { throw fault }
    return bytes
  }
}
