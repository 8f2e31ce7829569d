import Assembly
import Bytes

extension RunningMount {
  /// The reason why the mount cannot be accessed, with advice, as the end of a sentence. Nil if it answers.
  var hindrance: String? {
    let path = entry.mountpoint
    switch state {
    case .silent:
      return "the mount on \(path) does not answer; its source may hang (to unmount it, type: ffmount -u -z "
        + "\(ShellWord.quoted(path)))"
    case .dead: return "the daemon of the mount on \(path) has ended (type: \(entry.unmountCommand))"
    case .running, .closed: return nil
    }
  }

  /// Returns the mount that would block or fail an access to a path, because its daemon does not answer. Returns `nil`
  /// if there is none. Blocks for two seconds at most.
  ///
  /// Must be called before the process has a second thread.
  static func hindering(onTheWayTo path: String) -> RunningMount? {
    var last: RunningMount?
    let mount = MountTable().mount(onTheWayTo: path) { entry, _ in
      last = ask([entry]).first
      return last?.hindrance != nil
    }
    return mount == nil ? nil : last
  }

  /// Throws a refusal, `cannot DO PATH: …`, if one of these paths is in a mount that does not answer.
  ///
  /// Must be called before the process has a second thread.
  static func expectAnswers(onTheWayTo paths: [String], toDo what: String) throws {
    for path in paths {
      if let hindrance = hindering(onTheWayTo: path)?.hindrance {
        throw Refusal(.sourceMissing, "cannot \(what) \(path): \(hindrance)")
      }
    }
  }
}
