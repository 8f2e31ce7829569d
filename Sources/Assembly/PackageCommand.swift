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

  /// Returns the packages that apt can install, and the others: those of ffmount, unless a repository has them.
  package static func sorted(_ names: [String]) -> (installable: [String], others: [String]) {
    let others = names.filter { $0.hasPrefix("ffmount") && !(isPackaged && isInRepository($0)) }
    return (names.filter { !others.contains($0) }, others)
  }

  /// Whether this program was installed by a package.
  package static let isPackaged = OwnPrograms.target(ofLink: "/proc/self/exe")?.hasPrefix("/usr/bin/") ?? false

  /// The packages of ffmount that apt knows. All by one call, since it takes some tenths of a second.
  private static let known: Set<String> = {
    guard let apt = Subprocess.path(of: "apt-cache") else { return [] }
    let names = ["ffmount"] + Converter.packages.map(\.name)
    let text = Subprocess.run(apt, ["show", "--no-all-versions"] + names)?.text ?? ""
    let start = "Package: "
    return Set(text.split(separator: "\n").filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) })
  }()

  private static func isInRepository(_ name: String) -> Bool { known.contains(name) }
}
