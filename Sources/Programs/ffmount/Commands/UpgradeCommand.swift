import ArgumentParser
import Assembly
import Bytes
import Files
import Glibc

/// `ffmount upgrade MOUNTPOINT`.
struct UpgradeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "upgrade",
    abstract: "Lets the installed version take over a mount.")

  @Argument(help: "The mountpoint.", completion: .directory)
  var mountpoint: String

  func run() throws {
    guard let entry = MountTable().topmost(on: MountTable.absolute(mountpoint) ?? mountpoint), entry.isOurs else {
      if unsafe access(mountpoint, F_OK) != 0, errno == ENOENT { throw refusal("\(describe(ENOENT)) (check the path)") }
      throw refusal("not an ffmount mount (run 'ffmount list')")
    }
    let running = RunningMount.ask([entry])[0]
    let command = "upgrade \(ShellWord.quoted(entry.mountpoint))"
    if let objection = running.objection(toDo: "upgrade", by: command) { throw refusal(objection) }
    guard let before = running.report else { return }
    guard let keeper = Supervision.keeper(of: before.process) else {
      throw refusal("mounted with -o supervise=off or -f (unmount and mount it again)")
    }
    guard kill(keeper, SIGUSR2) == 0 else { throw refusal(describe(errno)) }
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end {
      _ = usleep(20_000)
      guard let report = RunningMount.ask([entry]).first?.report, report.process != before.process else { continue }
      return print("\(mountpoint): \(report.version) (it was \(before.version))")
    }
    throw refusal("no new process has started (see the system's log)")
  }

  private func refusal(_ reason: String) -> Refusal {
    Refusal(.mountpointUnusable, "cannot upgrade \(mountpoint): \(reason)")
  }
}
