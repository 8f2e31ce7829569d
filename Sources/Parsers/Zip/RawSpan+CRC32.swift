internal import Bytes
internal import Codecs

extension RawSpan {
  var crc32: UInt32 {
    var sum = CRC32()
    unsafe withUnsafeBytes { unsafe sum.update($0) }
    return sum.value
  }
}
