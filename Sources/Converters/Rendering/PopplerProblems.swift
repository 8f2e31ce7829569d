internal import CPoppler
internal import CPopplerText
internal import Synchronization

/// The problems that poppler reports while it reads documents. It continues after them.
enum PopplerProblems {
  private static let reported = Atomic<Int>(0)

  /// The number of problems in all documents since the first call. The library that opened the first document, of those that
  /// are open, gets the reports.
  static var count: Int { isCounting ? reported.load(ordering: .relaxed) + Int(ffconvert_text_problems()) : 0 }

  private static let isCounting: Bool = {
    unsafe g_log_set_handler(
      "Poppler", G_LOG_LEVEL_MASK, { _, _, _, _ in _ = reported.add(1, ordering: .relaxed) }, nil) > 0
  }()
}
