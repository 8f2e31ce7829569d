import Assembly
import Glibc

/// The installation of missing packages, for `ffmount doctor --fix`.
enum PackageInstallation {
  /// Has apt install packages: as root, or on a terminal by sudo or pkexec. On a terminal, apt shows the sizes and asks.
  /// Blocks until it has ended.
  ///
  /// - Parameter groups: The packages to install. Packages of a group are useful only together: if no repository has one
  ///   of them, none is installed.
  /// - Throws: A refusal with the command to type, if apt cannot be run here, or fails.
  static func install(_ groups: [[String]]) throws {
    let packages = distinct(groups)
    let others = PackageCommand.sorted(packages).others
    let installable = distinct(groups.filter { !$0.contains(where: others.contains) })
    if !installable.isEmpty {
      let words = ["install"] + installable
      guard let command = command(words) else {
        throw refusal(packages, "that takes root and apt, or a terminal with sudo (type: \(remedy(packages)))")
      }
      print("Running: \(command.joined(separator: " "))")
      fflush(nil)
      guard let status = Subprocess.runVisibly(command[0], Array(command.dropFirst())) else {
        throw refusal(installable, "\(command[0]) cannot be started: \(describe(errno))")
      }
      guard status == 0 else {
        throw refusal(installable, "apt-get ended with status \(status) (sudo apt update may help)")
      }
    }
    guard others.isEmpty else {
      let rest = packages.filter { !installable.contains($0) }
      throw refusal(others, "no repository of this system has them (type: \(remedy(rest)))")
    }
  }

  private static func distinct(_ groups: [[String]]) -> [String] {
    groups.reduce(into: []) { packages, group in packages += group.filter { !packages.contains($0) } }
  }

  /// Returns the command that runs apt-get. Returns `nil` if this user cannot run it.
  private static func command(_ words: [String]) -> [String]? {
    guard let apt = Subprocess.path(of: "apt-get") else { return nil }
    let isAnswered = Terminal.isOne(STDIN_FILENO) && Terminal.isOne()
    if geteuid() == 0 {
      if isAnswered { return [apt] + words }
      // Packages then ask no questions, either.
      unsafe setenv("DEBIAN_FRONTEND", "noninteractive", 0)
      return [apt, "--yes"] + words
    }
    guard isAnswered, let helper = Subprocess.path(of: "sudo") ?? Subprocess.path(of: "pkexec") else { return nil }
    return [helper, apt] + words
  }

  private static func remedy(_ packages: [String]) -> String { PackageCommand.installing(packages) }

  private static func refusal(_ packages: [String], _ reason: String) -> Refusal {
    Refusal(.failure, "cannot install \(packages.joinedWithAnd): \(reason)")
  }
}
