import ArgumentParser
import Assembly
import Bytes
import Glibc

/// `ffmount unmount MOUNTPOINT`, `ffmount -u MOUNTPOINT`.
struct UnmountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmount", abstract: "Unmounts ffmount mounts.",
    usage: """
      ffmount unmount [--lazy] MOUNTPOINT…
      ffmount -u [-z] MOUNTPOINT…
      """)

  @Argument(help: "The mountpoints.", completion: .directory)
  var mountpoints: [String]

  @Flag(
    name: [.customShort("z"), .long],
    help: "Unmount even if it is in use: it disappears at once, and ends when the last program has closed its files.")
  var lazy = false

  func run() throws {
    try Refusal.forEach(mountpoints, unmount)
  }

  private func unmount(_ given: String) throws {
    let entry = try find(given)
    if let objection = entry.objection(toDo: "unmount") { throw refusal(given, objection) }
    do throws(Fusermount.Failure) { try Fusermount.unmount(entry.mountpoint, lazily: lazy) } catch {
      switch error {
      case .busy where MountUsers.isThisProcess(in: entry.mountpoint):
        throw refusal(
          given, "in use as working folder of this command (type: cd /; \(entry.unmountCommand))")
      case .busy:
        let users = MountUsers.of(entry.mountpoint)
        let who = users.isEmpty ? "a program" : users.joined(separator: ", ")
        let end = users.count > 1 ? "them" : "it"
        throw refusal(
          given,
          "in use by \(who), for an open file or as working folder "
            + "(end \(end), or type: ffmount -u -z \(ShellWord.quoted(given)))")
      case .other(let reason): throw refusal(given, reason)
      }
    }
  }

  /// Returns the mount at a path. Does not resolve links at the mountpoint itself: its daemon may have exited or not
  /// respond.
  private func find(_ given: String) throws -> MountTable.Entry {
    let table = MountTable()
    var isMeant = false
    let passed = table.mount(onTheWayTo: given) { entry, isEnd in
      isMeant = isEnd
      return isEnd || RunningMount.ask([entry]).first?.hindrance != nil
    }
    if let passed, isMeant { return try own(passed, given) }
    guard let path = passed.map({ $0.mountpoint + "/" }) ?? MountTable.resolved(given) else {
      throw refusal(given, "\(describe(errno)) (run 'ffmount list')")
    }
    if let entry = table.topmost(on: path) { return try own(entry, given) }
    if let around = table.mount(of: path), around.isOurs {
      throw refusal(given, "inside the mount on \(around.mountpoint) (type: \(around.unmountCommand))")
    }
    throw refusal(given, "not a mountpoint (run 'ffmount list')")
  }

  /// Returns a mount. Throws a refusal if another program has made it.
  private func own(_ entry: MountTable.Entry, _ given: String) throws -> MountTable.Entry {
    guard entry.isOurs || entry.isElsewhere else {
      let advice = entry.canBlock ? "type: \(entry.unmountCommand)" : "use umount"
      throw refusal(given, "mounted by another program, as \(entry.type) (\(advice))")
    }
    return entry
  }

  private func refusal(_ given: String, _ reason: String) -> Refusal {
    Refusal(.mountpointUnusable, "cannot unmount \(given): \(reason)")
  }
}
