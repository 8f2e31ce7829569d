internal import COfficeKit
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// LibreOffice in this process, for one document.
///
/// Data of a document, such as its fonts, would stay available to the next one, so a process converts only one.
/// LibreOffice starts in the closed sandbox, which contains only the files that it reads itself: external references of
/// a document do not exist there.
@safe struct OfficeKit {
  private let kit: UnsafeMutablePointer<LibreOfficeKit>

  /// Loads LibreOffice's code, which takes most of its startup time. Returns `false` if it is not installed.
  static func load() -> Bool {
    guard let folder = OfficeSuite.folder else { return false }
    return unsafe ffmount_office_load(program(folder)) == 0
  }

  private static func program(_ folder: String) -> String { "\(folder)/program" }

  /// Starts LibreOffice with its own profile in `folder`, and with the clock set to a time in seconds since 1970.
  init(in folder: String, atTime time: Int64) throws(JobFailure) {
    guard let suite = OfficeSuite.folder else { throw Self.absent }
    try OfficeSettings.write(in: folder, suite: suite)
    for (name, value) in OfficeSettings.variables(in: folder, suite: suite) { unsafe setenv(name, value, 1) }
    ffmount_office_set_time(time)
    if let window = OfficeSettings.missingWindow(in: folder, suite: suite) {
      unsafe ffmount_office_stand_in(strdup(window.ending), strdup("file://\(window.path)"))
    }
    guard let kit = unsafe ffmount_office_start(Self.program(suite), "file://\(folder)/profile") else {
      throw JobFailure(.system, "is not laid out: LibreOffice does not start")
    }
    unsafe self.kit = kit
  }

  static var absent: JobFailure { JobFailure(.unsupported, "needs LibreOffice, which is not installed") }

  /// Converts one file to another, by paths.
  ///
  /// - Parameters:
  ///   - filter: the export settings of the result's format.
  ///   - passwords: candidates if the document requires one.
  func convert(
    _ source: String, to result: String, as format: String, filter: String?, passwords: [[UInt8]]
  ) throws(JobFailure) {
    guard let document = unsafe open(source, passwords) else {
      if ffmount_office_asked() { throw .locked }
      throw JobFailure(.damaged, "is not a document that LibreOffice can read", saying: complaint)
    }
    let isSaved = unsafe document.pointee.pClass.pointee.saveAs(document, Self.url(result), format, filter)
    guard isSaved != 0 else { throw JobFailure(.unsupported, "cannot be written by LibreOffice", saying: complaint) }
  }

  /// Returns the index of the password that opens a document. Returns `nil` if none does, or the document needs none.
  func password(for source: String, among passwords: [[UInt8]]) -> Int? {
    guard unsafe open(source, passwords) != nil, ffmount_office_given() > 0 else { return nil }
    return ffmount_office_given() - 1
  }

  /// Opens a document. The strings are never freed: the process exits after this document.
  private func open(_ source: String, _ passwords: [[UInt8]]) -> UnsafeMutablePointer<LibreOfficeKitDocument>? {
    let given = UnsafeMutableBufferPointer<UnsafePointer<CChar>?>.allocate(capacity: passwords.count)
    for (index, password) in zip(given.indices, passwords) {
      unsafe given[index] = UnsafePointer(strdup(String(decoding: password, as: UTF8.self)))
    }
    return unsafe ffmount_office_open(kit, strdup(Self.url(source)), given.baseAddress, passwords.count)
  }

  private static func url(_ path: String) -> String { "file://\(path)" }

  private var complaint: String {
    guard let words = unsafe kit.pointee.pClass.pointee.getError(kit) else { return "" }
    defer { unsafe kit.pointee.pClass.pointee.freeError(words) }
    return unsafe String(cString: words)
  }
}
