internal import CJbig2Dec
public import Pixels

extension Bilevel {
  /// What jbig2dec makes of a stream as PDFs have it, with a bit set for white; nil if it is not one whole page.
  public static func decoded(jbig2 bytes: [UInt8]) -> Bilevel? {
    guard let context = unsafe ffmount_jbig2_context() else { return nil }
    defer { _ = unsafe jbig2_ctx_free(context) }
    guard unsafe jbig2_data_in(context, bytes, bytes.count) >= 0, unsafe jbig2_complete_page(context) >= 0,
      let page = unsafe jbig2_page_out(context)
    else { return nil }
    defer { unsafe jbig2_release_page(context, page) }
    let (width, height) = unsafe (Int(page.pointee.width), Int(page.pointee.height))
    let (stride, data) = unsafe (Int(page.pointee.stride), page.pointee.data)
    var rows: [UInt8] = []
    for row in 0..<height {
      unsafe rows += UnsafeBufferPointer(start: data?.advanced(by: row * stride), count: (width + 7) / 8).map { ~$0 }
    }
    return Bilevel(width: width, height: height, bytes: rows)
  }

  /// Whether every pixel is the same: what pads a row to whole bytes does not count.
  public func hasPixels(of other: Bilevel) -> Bool {
    guard width == other.width, height == other.height else { return false }
    let last: UInt8 = width % 8 == 0 ? 0xFF : 0xFF << UInt8(8 - width % 8)
    return (0..<height).allSatisfy { row in
      (0..<rowSize).allSatisfy { column in
        let difference = bytes[row * rowSize + column] ^ other.bytes[row * rowSize + column]
        return difference & (column == rowSize - 1 ? last : 0xFF) == 0
      }
    }
  }
}
