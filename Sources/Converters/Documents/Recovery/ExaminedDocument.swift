internal import Catalogue
public import WorkerKit

/// A PDF that another library reads. Finds what that library passes over.
public final class ExaminedDocument {
  /// `nil` if the document cannot be examined.
  private lazy var document = try? PagedDocument(input, passwords)
  private let input: JobInput
  private let passwords: [[UInt8]]
  /// The indices of the pages that the repaired copy lacks. Empty if the library reads the document itself.
  private var lost: [Int] = []

  private init(_ input: JobInput, _ passwords: [[UInt8]]) {
    self.input = input
    self.passwords = passwords
  }

  /// Opens a document by another library, or a repaired copy of one in which that library finds no page.
  ///
  /// - Parameters:
  ///   - passwords: candidates for opening it.
  ///   - read: opens bytes, which the object owns, by the password that they need, if any.
  ///   - isReadable: returns whether a document has pages and the first one can be read.
  public static func open<Reader>(
    _ input: JobInput, among passwords: [[UInt8]],
    by read: (UnsafeRawBufferPointer, AnyObject, [UInt8]?, ExaminedDocument) throws(JobFailure) -> Reader,
    isReadable: (Reader) -> Bool
  ) throws(JobFailure) -> Reader {
    let password = Passphrase.opening(input, among: passwords)
    let examined = ExaminedDocument(input, passwords)
    let opened = Result { () throws(JobFailure) in try unsafe read(input.bytes, input, password, examined) }
    switch opened {
    case .success(let reader) where isReadable(reader): return reader
    case .failure(let failure) where failure.failure != .damaged: throw failure
    default: break
    }
    guard let copy = try? RepairedDocument(of: input, passwords),
      let repaired = unsafe try? read(copy.bytes, copy, password, examined), isReadable(repaired)
    else { return try opened.get() }
    examined.lost = copy.lost
    return repaired
  }

  /// The number of pages that the library cannot find, since they are damaged.
  public var lostCount: Int { lost.count }

  /// Returns the library's index of a page. Throws if the page is lost.
  public func place(of index: Int) throws(JobFailure) -> Int32 {
    if lost.contains(index) { throw Self.unreadable(index) }
    return Int32(clamping: index - lost.count { $0 < index })
  }

  /// The failure for a page that cannot be read.
  public static func unreadable(_ index: Int) -> JobFailure {
    JobFailure(.damaged, "has no readable page \(index + 1)")
  }

  /// Returns whether all contents of a page can be decoded. Throws if a damaged document has lost them.
  ///
  /// - Parameter index: from 0.
  public func isWhole(page index: Int) throws(JobFailure) -> Bool {
    try document.map { (document) throws(JobFailure) in try document.isWhole(page: index) } ?? true
  }

  /// Returns whether a page with text may draw it itself: it has no annotations, or its contents draw text. Annotations
  /// and form fields with text can be on a page that is a picture.
  public func mayDrawText(onPage index: Int) -> Bool {
    document.map { document in (try? document.mayDrawText(onPage: index)) ?? true } ?? true
  }
}
