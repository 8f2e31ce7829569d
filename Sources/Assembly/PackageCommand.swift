internal import FileTrees
internal import Glibc

/// The command that installs packages of this system.
package enum PackageCommand {
  /// Returns a command that installs Debian packages, including those of ffmount.
  package static func installing(_ names: [String]) -> String {
    let own = names.filter { $0.hasPrefix("ffmount") && !isInRepository($0) }
    let others = names.filter { !own.contains($0) }
    // Packages that are in no repository are beside that of ffmount, wherever the user has it.
    let files = isPackaged ? own.map { "./\($0)_*.deb" } : []
    let apt = others + files
    return [
      apt.isEmpty ? nil : "sudo apt install \(apt.joined(separator: " "))",
      isPackaged || own.isEmpty ? nil : "scripts/install",
    ].compactMap(\.self).joined(separator: " && ")
  }

  /// Whether this program was installed by a package.
  private static let isPackaged = OwnPrograms.target(ofLink: "/proc/self/exe")?.hasPrefix("/usr/bin/") ?? false

  /// Returns whether apt knows a package. Takes some tenths of a second.
  private static func isInRepository(_ name: String) -> Bool {
    guard let apt = Subprocess.path(of: "apt-cache") else { return false }
    return Subprocess.run(apt, ["show", "--no-all-versions", name])?.status == 0
  }
}
