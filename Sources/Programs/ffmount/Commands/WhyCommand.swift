import ArgumentParser
import Assembly
import Bytes
import Glibc

/// `ffmount why PATH`: reports what a file in a mount is, and why it cannot be read.
struct WhyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "why", abstract: "Explains what a file in a mount is, and why it cannot be read.",
    usage: "ffmount why PATH [--json]")

  @Argument(help: "A file or folder in a mount.", completion: .file())
  var path: String

  @Flag(help: "Print a JSON object.")
  var json = false

  func run() throws { try Refusal.reporting(asJSON: json) { try tell() } }

  private func tell() throws {
    let table = MountTable()
    var passed: RunningMount?
    _ = table.mount(onTheWayTo: path) { entry, _ in
      passed = RunningMount.ask([entry]).first
      return passed?.hindrance != nil
    }
    if let hindrance = passed?.hindrance { throw cannotTell(hindrance) }
    guard let full = MountTable.absolute(path), let mount = table.mount(of: full) else {
      throw cannotTell("\(describe(ENOENT)) (check the path)")
    }
    guard mount.isOurs else {
      throw cannotTell("not in an ffmount mount (run 'ffmount list')")
    }
    var status = stat()
    guard unsafe lstat(full, &status) == 0 else { throw missing(full, in: mount, because: errno) }
    // The last mount on the path contains the file, unless the path leaves that mount again.
    let running = passed?.entry.mountpoint == mount.mountpoint ? passed : RunningMount.ask([mount]).first
    let attributes = OwnAttributes(of: full)
    let below = full.dropFirst(mount.mountpoint == "/" ? 0 : mount.mountpoint.utf8.count).drop { $0 == "/" }
    let source = running?.source ?? mount.source
    let real = attributes.view == nil ? (below.isEmpty ? source : "\(source)/\(below)") : nil
    let error = attributes.error ?? Self.unreadable(full, status)
    let advice = attributes.error.map(Advice.on) ?? error.map { _ in Self.permissionAdvice }
    if json {
      let answer: JSON = [
        "path": .string(full), "mountpoint": .string(mount.mountpoint), "kind": .string(Self.kind(status)),
        "real": JSON(real), "view": JSON(attributes.view), "source": JSON(attributes.source ?? real),
        "state": JSON(attributes.state ?? "exact"), "error": JSON(error), "remark": JSON(attributes.remark),
        "advice": JSON(advice),
      ]
      return print(answer.document)
    }
    let kind = Self.kind(status)
    row("path", full)
    row("mount", "\(mount.mountpoint), of \(source)")
    if let view = attributes.view {
      row("is", "a \(kind) made by ffmount, the view \(view) of \(attributes.source ?? "?")")
    } else {
      row("is", below.isEmpty ? "the mount itself" : "a real \(kind), \(real ?? source)")
    }
    row("state", Self.meaning(of: attributes.state))
    if let error { row("error", error, .red) }
    if let remark = attributes.remark { row("remark", remark) }
    if let advice { row("do", advice) }
  }

  private func row(_ name: String, _ text: String, _ colour: Terminal.Colour? = nil) {
    let columns = Terminal.isOne() ? Terminal.columns() - 8 : .max
    let wrapped = Terminal.wrapped(Terminal.shown(text), columns: columns)
    let lines = wrapped.split(separator: "\n").joined(separator: "\n        ")
    let label = name + String(repeating: " ", count: 8 - name.count)
    print(label + (colour.map { Terminal.painted(lines, $0) } ?? lines))
  }

  // MARK: Descriptions

  private static func kind(_ status: stat) -> String {
    switch status.st_mode & S_IFMT {
    case S_IFDIR: "folder"
    case S_IFREG: "file"
    case S_IFLNK: "link"
    case S_IFIFO: "fifo"
    case S_IFSOCK: "socket"
    default: "device"
    }
  }

  private static func meaning(of state: String?) -> String {
    switch state {
    case "estimate": "estimate: its size is not exact until it has been opened"
    case "failed": "failed: it cannot be read, or only in part"
    case "unverified": "unverified: a checksum has not been compared yet, or does not match"
    default: "exact: no problem is known"
    }
  }

  private static let permissionAdvice =
    "change its permissions in the source; to give other users access, mount with -o allow_other"

  /// Returns the reason why this user cannot read the file. Returns `nil` if the user can.
  private static func unreadable(_ path: String, _ status: stat) -> String? {
    guard status.st_mode & S_IFMT != S_IFLNK, unsafe access(path, R_OK) != 0, errno == EACCES else { return nil }
    return "you do not have permission to read it: it belongs to user \(status.st_uid), and its mode is "
      + "0" + String(status.st_mode & 0o7777, radix: 8)
  }

  // MARK: Refusals

  private func cannotTell(_ reason: String) -> Refusal { Refusal(.sourceMissing, "cannot explain \(path): \(reason)") }

  /// Returns the error for a path that does not exist in the mount.
  private func missing(_ full: String, in mount: MountTable.Entry, because code: Int32) -> Refusal {
    if code == EACCES, let owner = mount.owner, owner != geteuid() {
      return cannotTell(
        "mounted by user \(owner), and accessible only to that user (mount with -o allow_other to give others access)")
    }
    // A mount that no process can serve refuses everything except its root.
    if code == EIO, let reason = OwnAttributes(of: mount.mountpoint).error { return cannotTell(reason) }
    guard code == ENOENT, let slash = full.lastIndex(of: "/") else { return cannotTell(describe(code)) }
    // The longest prefix of the name that is a file may be the source of the requested view.
    var name = full[full.index(after: slash)...]
    while let dot = name.lastIndex(of: "."), dot != name.startIndex {
      name = name[..<dot]
      if unsafe access("\(full[..<slash])/\(name)", F_OK) == 0 {
        return cannotTell(
          "\(name) exists but has no such view: its content is of another kind, or no view has this name "
            + "(run 'ffmount formats')")
      }
    }
    return cannotTell("\(describe(code)) (check the path; ffmount formats lists the names of views)")
  }
}
