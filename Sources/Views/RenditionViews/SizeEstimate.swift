internal import Bytes
internal import Conversion
internal import Tree

/// How large what is made of a file will be at most, as far as can be said without making it.
///
/// Who stats before he opens may read no further than the size that he was told, so an estimate errs to the large side: each
/// is well above what real files of its kind come to, but for the few of a single colour.
enum SizeEstimate {
  /// What every result may need beside its share, in bytes.
  private static let base: Int64 = 1 << 20

  /// In bytes.
  static func ofImage(_ format: ImageFormat, fromFileOf size: Int64) -> Int64 {
    switch format {
    // Three bytes a pixel, of which the source may have used a tenth of a bit.
    case .png, .tiff, .gif, .pdf: times(100, size)
    case .jpeg, .webp, .heic, .avif, .jp2: times(8, size)
    }
  }

  /// A page may hold most of its document, and its parts are no longer packed together.
  static func ofPages(fromFileOf size: Int64) -> Int64 { times(2, size) }

  /// Text is a small part of most PDFs, but packed well.
  static func ofText(fromFileOf size: Int64) -> Int64 { times(8, size) }

  /// Images become pages as they are or unpacked.
  static func ofMerging(filesOf size: Int64) -> Int64 { times(4, size) }

  /// `size` has come in by a door (`Bounds`), so that this is a number.
  private static func times(_ factor: Int64, _ size: Int64) -> Int64 { Bounds.size(factor * size + base) }
}
