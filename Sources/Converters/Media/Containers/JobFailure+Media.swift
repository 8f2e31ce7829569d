internal import CFFmpeg
internal import Catalogue
internal import Glibc
internal import WorkerKit

extension JobFailure {
  /// Creates a failure from a library's error code. `reason` is the end of a sentence that begins with the file's name.
  init(_ reason: String, media code: Int32) {
    switch code {
    case ffmedia_no_memory where Self.isMemoryShort: self = .noMemory()
    case ffmedia_no_memory: self.init(.damaged, reason, saying: "it claims sizes larger than any memory")
    case ffmedia_no_decoder, ffmedia_not_made: self.init(.unsupported, reason, saying: Self.words(code))
    case ffmedia_error(ENOSPC), ffmedia_error(EFBIG): self.init(.limit, reason, saying: Self.words(code))
    default: self.init(.damaged, reason, saying: Self.words(code))
    }
  }

  /// Whether the process lacks memory. If not, a library's allocation failed because of a size in the file.
  static var isMemoryShort: Bool {
    guard let piece = unsafe av_malloc(usualAllocation) else { return true }
    unsafe av_free(piece)
    return false
  }

  /// The size of an allocation that suffices for all but absurd claims, in bytes.
  private static let usualAllocation = 64 << 20

  private static func words(_ code: Int32) -> String {
    var text = [CChar](repeating: 0, count: 128)
    guard unsafe av_strerror(code, &text, text.count) == 0 else { return "error \(code)" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// Throws if a library's result is an error. Otherwise returns the result.
@discardableResult
func checked(_ code: Int32, _ reason: @autoclosure () -> String) throws(JobFailure) -> Int32 {
  guard code >= 0 else { throw JobFailure(reason(), media: code) }
  return code
}
