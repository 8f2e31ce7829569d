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

  init(_ name: String, _ grade: Grade, _ says: String, mend: String? = nil) {
    self.name = name
    self.grade = grade
    self.says = says
    self.mend = mend
  }
}
