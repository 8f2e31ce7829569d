/// What `ffmount doctor` found of one thing.
struct Finding {
  enum Grade: String {
    case good
    /// Something that only some need.
    case note
    case bad
  }

  let name: String
  let grade: Grade
  let says: String
  /// The command that mends it.
  let mend: String?

  init(_ name: String, _ grade: Grade, _ says: String, mend: String? = nil) {
    self.name = name
    self.grade = grade
    self.says = says
    self.mend = mend
  }
}
