import ArgumentParser
import Assembly
import Bytes
import Glibc

/// `ffmount unmount MOUNTPOINT`, `ffmount -u MOUNTPOINT`.
struct UnmountCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unmount", abstract: "Unmounts what ffmount has mounted.",
    usage: """
      ffmount unmount [--lazy] MOUNTPOINT…
      ffmount -u [-z] MOUNTPOINT…
      """)

  @Argument(help: "The folders that something is mounted on.", completion: .directory)
  var mountpoints: [String]

  @Flag(
    name: [.customShort("z"), .long],
    help: "Also if programs are in it: it is gone for others at once, and for those when they have finished.")
  var lazy = false

  func run() throws {
    for mountpoint in mountpoints { try unmount(mountpoint) }
  }

  private func unmount(_ given: String) throws {
    let entry = try find(given)
    if let owner = entry.owner, geteuid() != 0, owner != geteuid() {
      throw refusal(given, "another user has mounted it, who alone can unmount it, and root")
    }
    do throws(Fusermount.Failure) { try Fusermount.unmount(entry.mountpoint, lazily: lazy) } catch {
      switch error {
      case .busy:
        let users = MountUsers.of(entry.mountpoint)
        let who = users.isEmpty ? "a program" : users.joined(separator: ", ")
        let end = users.count > 1 ? "them" : "it"
        throw refusal(
          given,
          "\(who) has a file or its working folder in it (end \(end), or type: ffmount -u -z \(ShellWord.quoted(given)))"
        )
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
    if let passed, isMeant { return passed }
    guard let path = passed.map({ $0.mountpoint + "/" }) ?? MountTable.resolved(given) else {
      throw refusal(given, "\(describe(errno)) (ffmount list shows what is mounted)")
    }
    if let entry = table.topmost(on: path) {
      if entry.isOurs { return entry }
      throw refusal(given, "another program has mounted it, as \(entry.type): it is not ffmount's to unmount")
    }
    if let around = table.mount(of: path), around.isOurs {
      throw refusal(given, "it is in the mount on \(around.mountpoint) (type: \(around.unmountCommand))")
    }
    throw refusal(given, "nothing is mounted on it (ffmount list shows what is mounted)")
  }

  private func refusal(_ given: String, _ reason: String) -> Refusal {
    Refusal(.mountpointUnusable, "cannot unmount \(given): \(reason)")
  }
}
