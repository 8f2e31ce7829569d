internal import COfficeKit
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// LibreOffice in this process, for one document.
///
/// What one document brings with it, its fonts for instance, is there for the next one as well; so there is none. It starts
/// in the closed sandbox, where nothing is but what it reads itself: what a document refers to outside does not exist.
@safe struct OfficeKit {
  private let kit: UnsafeMutablePointer<LibreOfficeKit>

  /// Loads its code, which takes most of the time of a start; false if it is not installed.
  static func load() -> Bool {
    guard let folder = OfficeSuite.folder else { return false }
    return unsafe ffmount_office_load(program(folder)) == 0
  }

  private static func program(_ folder: String) -> String { "\(folder)/program" }

  /// Starts it with a profile of its own in `folder`, at a time of day in seconds since 1970.
  init(in folder: String, atTime time: Int64) throws(JobFailure) {
    guard let suite = OfficeSuite.folder else { throw Self.absent }
    try OfficeSettings.write(in: folder, suite: suite)
    for (name, value) in OfficeSettings.variables(in: folder, suite: suite) { unsafe setenv(name, value, 1) }
    ffmount_office_set_time(time)
    guard let kit = unsafe ffmount_office_start(Self.program(suite), "file://\(folder)/profile") else {
      throw JobFailure(.system, "is not laid out: LibreOffice does not start")
    }
    unsafe self.kit = kit
  }

  static var absent: JobFailure { JobFailure(.unsupported, "is laid out by LibreOffice, which is not installed") }

  /// Reads one file and writes another, by paths.
  ///
  /// - Parameter filter: what the result's format has to be told.
  func convert(_ source: String, to result: String, as format: String, filter: String?) throws(JobFailure) {
    // No dialogue waits for an answer.
    guard let document = unsafe kit.pointee.pClass.pointee.documentLoadWithOptions(kit, Self.url(source), "Batch=true")
    else { throw JobFailure(.damaged, "is no document that LibreOffice reads", saying: complaint) }
    let isSaved = unsafe document.pointee.pClass.pointee.saveAs(document, Self.url(result), format, filter)
    guard isSaved != 0 else { throw JobFailure(.unsupported, "cannot be written by LibreOffice", saying: complaint) }
  }

  private static func url(_ path: String) -> String { "file://\(path)" }

  private var complaint: String {
    guard let words = unsafe kit.pointee.pClass.pointee.getError(kit) else { return "" }
    defer { unsafe kit.pointee.pClass.pointee.freeError(words) }
    return unsafe String(cString: words)
  }
}
