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
    guard let entry = MountTable().topmost(on: MountTable.resolved(mountpoint) ?? mountpoint), entry.isOurs else {
      throw refusal("not an ffmount mount (run 'ffmount list')")
    }
    guard let before = RunningMount.ask([entry]).first?.report else {
      throw refusal("the mount does not answer (see: ffmount doctor \(ShellWord.quoted(mountpoint)))")
    }
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
