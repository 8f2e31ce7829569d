internal import CPoppler
internal import Catalogue
internal import Documents
internal import Glibc
public import WorkerKit

/// An open PDF as rendered by poppler.
@safe public final class RenderedDocument {
  let document: OpaquePointer
  /// The owner of the bytes.
  private let holder: AnyObject
  /// Examines pages that show nothing or have problems.
  private let examined: ExaminedDocument
  /// Whether a part of the contents of the last page that was painted could not be decoded.
  public private(set) var isIncomplete = false

  /// - Parameter password: the password that opens the document. Nil if it needs none. A wrong one would crash poppler.
  private init(
    _ bytes: UnsafeRawBufferPointer, of holder: AnyObject, _ password: [UInt8]?, _ examined: ExaminedDocument
  ) throws(JobFailure) {
    self.holder = holder
    self.examined = examined
    let bytes = unsafe g_bytes_new_static(bytes.baseAddress, gsize(bytes.count))
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
    throw JobFailure(.damaged, "is not a readable PDF", saying: words)
  }

  /// Opens a document, or a repaired copy of one in which poppler finds no page.
  ///
  /// - Parameter passwords: candidates for opening it.
  public static func open(_ input: JobInput, among passwords: [[UInt8]]) throws(JobFailure) -> RenderedDocument {
    try unsafe ExaminedDocument.open(input, among: passwords, by: RenderedDocument.init, isReadable: \.isReadable)
  }

  deinit { unsafe g_object_unref(UnsafeMutableRawPointer(document)) }

  func withPage<Result>(
    _ index: Int32, _ body: (OpaquePointer) throws(JobFailure) -> Result
  ) throws(JobFailure) -> Result {
    guard let page = unsafe try poppler_document_get_page(document, examined.place(of: Int(index))) else {
      throw ExaminedDocument.unreadable(Int(index))
    }
    defer { unsafe g_object_unref(UnsafeMutableRawPointer(page)) }
    return try unsafe body(page)
  }

  /// The number of pages. 0 if they cannot be found.
  public var pageCount: Int { unsafe max(0, Int(poppler_document_get_n_pages(document))) + examined.lostCount }

  /// Whether the document has pages and the first one can be read.
  private var isReadable: Bool { pageCount > 0 && (try? unsafe withPage(0) { _ in }) != nil }

  /// Paints a page on white. Throws if the page cannot be read, or if a damaged document has lost its contents.
  ///
  /// - Parameters:
  ///   - index: from 0.
  ///   - resolution: returns the pixels per inch for the page's width and height in inches.
  public func paint(page index: Int = 0, resolution: (Double, Double) -> Double) throws(JobFailure) -> Raster {
    let before = PopplerProblems.count
    let raster = try unsafe withPage(Int32(clamping: index)) { (page) throws(JobFailure) in
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
    // Poppler shows lost contents as nothing, and the rest of damaged ones as well as it can. Examining all pages would take
    // longer than to paint one.
    let isDoubtful = raster.isUniform || PopplerProblems.count > before
    isIncomplete = isDoubtful ? try !examined.isWhole(page: index) : false
    if isIncomplete, raster.isUniform { throw ExaminedDocument.unreadable(index) }
    return raster
  }

  /// Returns whether a page shows nothing: all its pixels are equal. Returns false if it cannot be painted.
  ///
  /// - Parameter index: from 0.
  public func isBlank(page index: Int) -> Bool {
    // A hair line still tints the pixels that it crosses.
    let raster = try? paint(page: index, resolution: { width, height in min(50, 2000 / max(width, height)) })
    return raster?.isUniform ?? false
  }
}
