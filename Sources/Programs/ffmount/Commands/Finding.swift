import Assembly

/// A result of `ffmount doctor`.
struct Finding {
  enum Grade: String {
    case good
    /// A problem that affects only some users.
    case note
    case bad
  }

  let name: String
  let grade: Grade
  let says: String
  /// The command that fixes the problem.
  let mend: String?
  /// The Debian packages that fix the problem.
  let lacking: [String]

  init(_ name: String, _ grade: Grade, _ says: String, mend: String? = nil) {
    self.name = name
    self.grade = grade
    self.says = says
    self.mend = mend
    lacking = []
  }

  /// Creates a result for missing packages, whose installation fixes the problem.
  init(_ name: String, _ grade: Grade, _ says: String, lacking: [String]) {
    self.name = name
    self.grade = grade
    self.says = says
    self.lacking = lacking
    mend = PackageCommand.installing(lacking)
  }
}
