internal import FuseLink
internal import Synchronization
internal import Tree

/// The real files that the kernel reads and writes by itself in a mount that can be written, by their nodes' generations: a
/// node id is given to another file while the last release of this one is still on its way.
///
/// All who have a node open at a time must have the same one, or none. So none is lent any more as soon as the kernel does
/// not take one.
final class LentFiles: Sendable {
  private struct Reference {
    weak var file: LentFile?
  }

  private struct State {
    var files: [UInt64: Reference] = [:]
    var isUseless = false
  }

  private let state = Mutex(State())

  /// What of `file` is lent by `session`, as long as the file is open; nil if it is not real or is not taken.
  func lend(_ file: Tree.OpenFile, by session: Session?) -> LentFile? {
    guard file.isReal, let session else { return nil }
    let lent = state.withLock { state -> LentFile? in
      if let before = state.files[file.generation]?.file { return before }
      if state.isUseless { return nil }
      guard let lent = file.lending({ session.lend($0) }) else {
        state.isUseless = true
        return nil
      }
      if state.files.count.isMultiple(of: 256) { state.files = state.files.filter { $0.value.file != nil } }
      state.files[file.generation] = Reference(file: lent)
      return lent
    }
    if let lent { file.keep(lent: lent) }
    return lent
  }
}
