import ArgumentParser
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
    let (path, entry) = try find(given)
    if let owner = entry.owner, geteuid() != 0, owner != geteuid() {
      throw refusal(given, "another user has mounted it, who alone can unmount it, and root")
    }
    do throws(Fusermount.Failure) { try Fusermount.unmount(path, lazily: lazy) } catch {
      switch error {
      case .busy:
        let users = MountUsers.of(path)
        let who = users.isEmpty ? "a program" : users.joined(separator: ", ")
        let end = users.count > 1 ? "them" : "it"
        throw refusal(
          given,
          "\(who) has a file or its working folder in it (end \(end), or type: ffmount -u -z \(Terminal.word(given)))")
      case .other(let reason): throw refusal(given, reason)
      }
    }
  }

  /// The mount that is meant, and its absolute path.
  private func find(_ given: String) throws -> (path: String, MountTable.Entry) {
    let table = MountTable()
    guard let path = MountTable.absolute(given) else {
      throw refusal(given, "\(describe(errno)) (ffmount list shows what is mounted)")
    }
    // A link to a mountpoint is meant as that; what is mounted itself is not asked where it leads, as it may be dead.
    let entry = table.topmost(on: path)
    let target = entry == nil ? MountTable.resolved(path) ?? path : path
    guard let entry = entry ?? table.topmost(on: target) else {
      var status = stat()
      guard unsafe lstat(path, &status) == 0 else {
        throw refusal(given, "\(describe(errno)) (ffmount list shows what is mounted)")
      }
      if let around = table.mount(of: target), around.isOurs {
        throw refusal(
          given, "it is in the mount on \(around.mountpoint) (type: ffmount -u \(Terminal.word(around.mountpoint)))")
      }
      throw refusal(given, "nothing is mounted on it (ffmount list shows what is mounted)")
    }
    guard entry.isOurs else {
      throw refusal(given, "another program has mounted it, as \(entry.type) (type: umount \(Terminal.word(given)))")
    }
    return (target, entry)
  }

  private func refusal(_ given: String, _ reason: String) -> Refusal {
    Refusal(.mountpointUnusable, "cannot unmount \(given): \(reason)")
  }
}
