internal import CPoppler
internal import Catalogue
internal import Glibc
public import WorkerKit

/// An open PDF as rendered by poppler.
@safe public final class RenderedDocument {
  let document: OpaquePointer
  private let input: JobInput

  /// - Parameter password: the one that opens the document; nil if it needs none. A wrong one would crash poppler.
  public init(_ input: JobInput, _ password: [UInt8]? = nil) throws(JobFailure) {
    self.input = input
    let bytes = unsafe g_bytes_new_static(input.bytes.baseAddress, gsize(input.count))
    defer { unsafe g_bytes_unref(bytes) }
    // poppler takes a string and converts each character back to a byte.
    let text = password.map { String(String.UnicodeScalarView($0.map { Unicode.Scalar($0) })) }
    var error: UnsafeMutablePointer<GError>?
    if let document = unsafe poppler_document_new_from_bytes(bytes, text, &error) {
      unsafe self.document = document
      return
    }
    defer { unsafe g_error_free(error) }
    if unsafe error?.pointee.code == Int32(POPPLER_ERROR_ENCRYPTED.rawValue) { throw JobFailure.locked }
    let words = unsafe error.flatMap { unsafe $0.pointee.message }.map { unsafe String(cString: $0) } ?? ""
    throw JobFailure(.damaged, "is no readable PDF", saying: words)
  }

  deinit { unsafe g_object_unref(UnsafeMutableRawPointer(document)) }

  func withPage<Result>(
    _ index: Int32, _ body: (OpaquePointer) throws(JobFailure) -> Result
  ) throws(JobFailure) -> Result {
    guard let page = unsafe poppler_document_get_page(document, index) else {
      throw JobFailure(.damaged, "has no readable page \(index + 1)")
    }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(page)) }
    return try unsafe body(page)
  }

  /// The number of its pages; 0 if they cannot be found.
  public var pageCount: Int { unsafe max(0, Int(poppler_document_get_n_pages(document))) }

  /// Paints a page on white.
  ///
  /// - Parameters:
  ///   - index: from 0.
  ///   - resolution: returns the pixels per inch for the page's width and height in inches.
  public func paint(page index: Int = 0, resolution: (Double, Double) -> Double) throws(JobFailure) -> Raster {
    try unsafe withPage(Int32(clamping: index)) { (page) throws(JobFailure) in
      var width = 0.0
      var height = 0.0
      unsafe poppler_page_get_size(page, &width, &height)
      guard width > 0, height > 0, width.isFinite, height.isFinite else {
        throw JobFailure(.damaged, "has a page without a size")
      }
      let density = resolution(width / 72, height / 72)
      let raster = try Raster(
        width: max(1, (width / 72 * density).rounded()), height: max(1, (height / 72 * density).rounded()),
        density: density)
      try unsafe raster.paint { cairo in
        unsafe cairo_scale(cairo, density / 72, density / 72)
        unsafe poppler_page_render(page, cairo)
      }
      return raster
    }
  }
}
