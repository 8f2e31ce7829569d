import ArgumentParser
import Assembly
import FileTrees
import Glibc

/// `ffmount doctor`: checks whether this machine has what ffmount needs.
struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Checks the system requirements of ffmount, and suggests fixes.",
    usage: "ffmount doctor [MOUNTPOINT… | --fix] [--json]",
    discussion: """
      Exits with status 1 if a requirement is not met. With mountpoints, examines these mounts instead. With --fix, has \
      apt install the packages that the checks name, and checks again.
      """)

  @Argument(help: "The mounts to examine.", completion: .directory)
  var mountpoints: [String] = []

  @Flag(help: "Print a JSON object.")
  var json = false

  @Flag(help: "Install the packages that are missing, as root or by sudo.")
  var fix = false

  func validate() throws {
    guard !fix || mountpoints.isEmpty && !json else {
      throw ValidationError("--fix cannot be combined with mountpoints or --json")
    }
  }

  func run() throws {
    let findings =
      mountpoints.isEmpty ? Checkup.findings() : try mountpoints.map(mount).flatMap(Checkup.findings)
    let isWell = !findings.contains { $0.grade == .bad }
    if json {
      let checks = findings.map { finding -> JSON in
        [
          "name": .string(finding.name), "grade": .string(finding.grade.rawValue), "says": .string(finding.says),
          "mend": JSON(finding.mend),
        ]
      }
      print((["ok": .bool(isWell), "checks": .array(checks)] as JSON).document)
    } else {
      for finding in findings { show(finding) }
    }
    if fix { try install(findings) }
    if !isWell { throw ExitCode(ExitStatus.failure.rawValue) }
  }

  /// Installs the packages that findings name, and replaces this process by one that checks again. Returns if they name
  /// none.
  private func install(_ findings: [Finding]) throws {
    let packages = findings.map(\.lacking).filter { !$0.isEmpty }
    if packages.isEmpty { return }
    try PackageInstallation.install(packages)
    guard let program = OwnPrograms.target(ofLink: "/proc/self/exe") else { return }
    fflush(nil)
    var words = unsafe [strdup("ffmount"), strdup("doctor"), nil]
    _ = unsafe execv(program, &words)
    throw Refusal(.failure, "cannot check again: \(describe(errno)) (run 'ffmount doctor')")
  }

  /// Returns the mount on a directory. Throws a refusal if it is not one of ffmount.
  private func mount(_ given: String) throws -> RunningMount {
    guard let path = MountTable.absolute(given), let entry = MountTable().topmost(on: path), entry.isOurs else {
      let isAbsent = unsafe access(given, F_OK) != 0 && errno == ENOENT
      let reason = isAbsent ? "\(describe(ENOENT)) (check the path)" : "not an ffmount mount (run 'ffmount list')"
      throw Refusal(.sourceMissing, "cannot examine \(given): \(reason)")
    }
    return RunningMount.ask([entry])[0]
  }

  private func show(_ finding: Finding) {
    let grade =
      switch finding.grade {
      case .good: Terminal.painted("ok  ", .green)
      case .note: Terminal.painted("note", .yellow)
      case .bad: Terminal.painted("bad ", .red)
      }
    let label = finding.name + String(repeating: " ", count: max(1, 14 - finding.name.count))
    // Commands are not wrapped, so that they can be copied.
    let columns = Terminal.isOne() ? Terminal.columns() - 20 : .max
    let says = Terminal.wrapped(Terminal.shown(finding.says), columns: columns)
    print(
      "\(grade)  \(label)\(says.split(separator: "\n").joined(separator: "\n" + String(repeating: " ", count: 20)))")
    if let mend = finding.mend { print("      fix it with: \(Terminal.shown(mend))") }
  }
}
