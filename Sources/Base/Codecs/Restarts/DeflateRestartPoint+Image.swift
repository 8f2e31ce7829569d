internal import Bytes
internal import CIsal
internal import CZstd

/// The serialized form of a restart point, for other processes.
///
/// The image is ISA-L's own memory, so it is valid only for one version of the library on one kind of machine.
/// `imageVersion` identifies these. The store has to detect changed bytes; even so, every index in the image is checked
/// before use.
extension DeflateRestartPoint {
  /// The size of the header, in bytes: the input offset, the memory's size and its CRC-32.
  ///
  /// The memory follows. It is compressed by Zstandard, which does not detect flipped bits itself.
  private static let headerSize = 16

  /// The image. Nil if it cannot be created. Takes about 0.2 ms.
  var image: [UInt8]? {
    let sums = UInt64(memory.count) | UInt64(checksum) << 32
    let header = [UInt8](littleEndian: [UInt64(bitPattern: inputOffset), sums])
    // Level 1 compresses to about a third. The next levels save hardly more.
    guard let frame = unsafe ZstdEncoder.encode(memory.span.bytes, level: 1) else { return nil }
    return header + frame
  }

  private var checksum: UInt32 { CRC32.of(memory[...]) }

  /// Restores a restart point. Returns `nil` if `image` is malformed, or if its decoder would access bytes outside its
  /// memory.
  init?(image: [UInt8]) {
    let bytes = unsafe image.span.bytes
    var reader = ByteReader(bytes)
    guard let offset = try? reader.u64(), let count = try? reader.u32(), let sum = try? reader.u32() else { return nil }
    inputOffset = Int64(bitPattern: offset)
    let rest = image[Self.headerSize...]
    guard Bounds.holds(inputOffset), Inflater.memorySizes.contains(Int(count)) else { return nil }
    memory = unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
      let found = unsafe rest.withUnsafeBytes { bytes in
        unsafe ZSTD_decompress(buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count)
      }
      initialized = ZSTD_isError(found) == 0 ? found : 0
    }
    guard memory.count == Int(count), checksum == sum else { return nil }
    guard Inflater(at: self).isSound(memorySize: memory.count) else { return nil }
  }
}

extension DeflateRestartPoint {
  /// The version of this code and of the library in use. Includes the decoder's tables for one short stream.
  static let imageVersion: UInt64 = {
    var hash = StableHash()
    let format: UInt64 = 4
    for word in [format, UInt64(Inflater.memorySizes.lowerBound), UInt64(Inflater.memorySizes.upperBound)] {
      hash.combine(word)
    }
    for number in [ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION] {
      hash.combine(UInt64(UInt32(bitPattern: number)))
    }
    var inflater = Inflater()
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 512, alignment: 8)
    defer { unsafe output.deallocate() }
    _ = unsafe sample.withUnsafeBytes { try? unsafe inflater.inflate($0, into: output) }
    hash.combine(inflater.tables)
    return hash.value
  }()

  /// A Deflate stream of one block with dynamic Huffman codes, for 257 bytes.
  private static let sample: [UInt8] = [
    0x4d, 0x8d, 0xb9, 0x0e, 0xc2, 0x30, 0x10, 0x44, 0x7f, 0x65, 0x39, 0x0a, 0x52, 0x02, 0x02, 0x59, 0xd0, 0x84, 0x06,
    0x3a, 0x84, 0x10, 0xd0, 0x81, 0x94, 0x08, 0xe7, 0xb4, 0xe3, 0xe0, 0x04, 0x1c, 0xf3, 0xf5, 0xc8, 0x1e, 0x17, 0x34,
    0x53, 0xbc, 0xdd, 0x79, 0x63, 0x8a, 0xb2, 0xab, 0x77, 0x24, 0x93, 0x26, 0x57, 0x96, 0xd2, 0x67, 0x3d, 0x25, 0x61,
    0x9b, 0x21, 0xa6, 0x4c, 0xab, 0xae, 0x5f, 0x51, 0x22, 0x53, 0xae, 0x4f, 0x81, 0x7d, 0x79, 0x5b, 0x58, 0x9d, 0x01,
    0x56, 0xf4, 0xe1, 0xc3, 0xd8, 0xc5, 0x95, 0x2a, 0x25, 0x7a, 0x16, 0xce, 0xa1, 0xb3, 0x20, 0xe3, 0xd4, 0xad, 0xaf,
    0xce, 0xe9, 0xf5, 0x2e, 0x85, 0x18, 0xc1, 0xba, 0x75, 0xa5, 0x35, 0xd0, 0x1e, 0xd3, 0x1b, 0x37, 0x6d, 0x1c, 0x67,
    0x2e, 0xce, 0xde, 0x38, 0xc1, 0xed, 0x86, 0xcf, 0xa5, 0x67, 0x11, 0xd8, 0x01, 0x76, 0x01, 0xa1, 0x04, 0x8c, 0xfc,
    0xc7, 0xd1, 0xe7, 0x03, 0x88, 0xf9, 0xf9, 0x3b, 0x0c, 0xb3, 0x7f, 0xeb, 0x05, 0xd5, 0xfc, 0x07,
  ]
}

extension Inflater {
  /// The bytes of the Huffman tables.
  fileprivate var tables: [UInt8] {
    let (start, end) = (ffmount_inflate_literal_offset(), ffmount_inflate_tables_end())
    return unsafe Array(UnsafeRawBufferPointer(start: state, count: end)[start...])
  }

  /// Returns whether all indices in a deserialized state of `memorySize` bytes stay inside ISA-L's memory.
  fileprivate func isSound(memorySize: Int) -> Bool {
    let windowEnd = Int32(Inflater.memorySizes.upperBound - Inflater.memorySizes.lowerBound)
    let valid = unsafe state.pointee.tmp_out_valid
    let states = ISAL_BLOCK_NEW_HDR.rawValue...ISAL_BLOCK_FINISH.rawValue
    // Accepts only raw Deflate with the default window, no dictionary and no leftover output. ISA-L would put that into
    // the window.
    return unsafe (0...windowEnd).contains(valid) && Inflater.memorySizes.lowerBound + Int(valid) == memorySize
      && (0...valid).contains(state.pointee.tmp_out_processed)
      && (0...64).contains(state.pointee.read_in_length)
      && (0...Int16(ISAL_DEF_MAX_HDR_SIZE)).contains(state.pointee.tmp_in_size)
      && states.contains(state.pointee.block_state.rawValue) && state.pointee.bfinal <= 1
      && (0...0xffff).contains(state.pointee.type0_block_len)
      && state.pointee.write_overflow_len == 0 && state.pointee.copy_overflow_length == 0
      && state.pointee.copy_overflow_distance == 0 && state.pointee.dict_length == 0
      && state.pointee.crc_flag == 0 && state.pointee.wrapper_flag == 0 && state.pointee.hist_bits == 0
      && state.pointee.next_in == nil && state.pointee.next_out == nil && state.pointee.avail_in == 0
      && state.pointee.avail_out == 0 && ffmount_inflate_tables_are_sound(state) != 0
  }
}
