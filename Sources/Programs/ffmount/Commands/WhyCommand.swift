import ArgumentParser
import Assembly
import Bytes
import FileTrees
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

  func run() throws {
    let (running, full) = try RunningMount.containing(path, toDo: "explain")
    let mount = running.entry
    var status = stat()
    guard unsafe lstat(full, &status) == 0 else { throw missing(full, in: mount, because: errno) }
    let attributes = OwnAttributes(of: full)
    let below = full.dropFirst(mount.mountpoint == "/" ? 0 : mount.mountpoint.utf8.count).drop { $0 == "/" }
    let source = running.source
    // The attributes of a view of an unreadable file cannot be read either.
    let isHidden =
      attributes.view == nil && !below.isEmpty && !ServerAccess.isAddress(source)
      && !Self.exists("\(source)/\(below)")
    let real = attributes.view == nil && !isHidden ? (below.isEmpty ? source : "\(source)/\(below)") : nil
    let isSourceGone = below.isEmpty && !ServerAccess.isAddress(source) && !Self.exists(source)
    let error =
      attributes.error ?? (isSourceGone ? "the source has been removed" : Self.unreadable(full, status))
    // An error without a state is one that this command has found.
    let state = isSourceGone || error != nil && attributes.error == nil ? "failed" : attributes.state
    let lack = attributes.view == nil ? lack(of: full, status) : nil
    let foreign = attributes.view == nil ? foreignFormat(of: full, status) : nil
    let remark =
      attributes.remark ?? foreign.map { "\($0.name), whose content ffmount does not show" }
      ?? failureElsewhere(source, attributes.source ?? String(below))
    let advice =
      attributes.error.map { error in
        // The error of an invalid query begins with the query.
        attributes.view == "search" && error.hasPrefix("'") ? Advice.onQueries : Advice.on(error, at: path)
      }
      ?? (isSourceGone ? "create it again and mount again, or type: \(mount.unmountCommand)" : nil)
      ?? error.map { _ in Self.permissionAdvice(status) } ?? foreign?.command
    if json {
      let answer: JSON = [
        "path": .string(full), "mountpoint": .string(mount.mountpoint), "kind": .string(Self.kind(status)),
        "real": JSON(real), "view": JSON(attributes.view), "source": JSON(attributes.source ?? real),
        "state": JSON(state ?? "exact"), "error": JSON(error),
        "remark": JSON(remark),
        "lacks": JSON(lack), "advice": JSON(advice),
      ]
      return print(answer.document)
    }
    let kind = Self.kind(status)
    row("path", full)
    row("mount", "\(mount.mountpoint), of \(source)")
    if let view = attributes.view {
      let origin = attributes.source.map { $0.isEmpty ? source : $0 } ?? "?"
      row("is", "a \(kind) made by ffmount, the view \(view) of \(origin)")
    } else if isHidden {
      row("is", "a \(kind) made by ffmount, of a file that you do not have permission to read")
    } else {
      row("is", below.isEmpty ? "the mount itself" : "a real \(kind), \(real ?? source)")
    }
    row("state", Self.meaning(of: state))
    if let error { row("error", error, .red) }
    if let remark { row("remark", remark) }
    if let lack { row("lacks", lack) }
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

  /// Returns the last failure of a source on another machine. Returns `nil` if there is none, or the source is on this one.
  private func failureElsewhere(_ address: String, _ name: String) -> String? {
    guard ServerAccess.isAddress(address),
      let mount = MountTable().entries.last(where: { $0.isElsewhere && $0.source == address && !$0.isOfAnotherUser })
    else { return nil }
    return OwnAttributes(of: "\(mount.mountpoint)/\(name)").error.map { "the last read of its source failed: \($0)" }
  }

  /// Returns the views that a real file lacks because a package is not installed. Returns `nil` if it lacks none.
  private func lack(of full: String, _ status: stat) -> String? {
    let programs = AbsentConversions.programs(forFileNamed: Self.name(in: full))
    guard status.st_mode & S_IFMT == S_IFREG, !programs.isEmpty else { return nil }
    return "views made by \(programs.joinedWithAnd) (\(Converter.remedy(programs)))"
  }

  /// Returns the format of a real file whose content ffmount does not show. Returns `nil` for other files.
  private func foreignFormat(of full: String, _ status: stat) -> ForeignFormat? {
    guard status.st_mode & S_IFMT == S_IFREG, unsafe access(full + ".contents", F_OK) != 0 else { return nil }
    return ForeignFormat(of: full)
  }

  private static func name(in path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  private static func permissionAdvice(_ status: stat) -> String {
    status.st_uid == geteuid()
      ? "change its permissions in the source"
      : "ask its owner to change its permissions, or mount as that user"
  }

  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 || errno != ENOENT
  }

  /// Returns the reason why this user cannot read the file. Returns `nil` if the user can.
  private static func unreadable(_ path: String, _ status: stat) -> String? {
    guard status.st_mode & S_IFMT != S_IFLNK, unsafe access(path, R_OK) != 0, errno == EACCES else { return nil }
    let mode = String(status.st_mode & 0o7777, radix: 8)
    return "you do not have permission to read it: it belongs to user \(status.st_uid), and its mode is "
      + String(repeating: "0", count: max(0, 4 - mode.count)) + mode
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
    if code == EACCES { return cannotTell("\(describe(code)) (check the permissions of the folders on its path)") }
    guard code == ENOENT, let slash = full.lastIndex(of: "/") else { return cannotTell(describe(code)) }
    let (folder, name) = (String(full[...slash]), String(full[full.index(after: slash)...]))
    guard let (source, view) = Self.source(ofView: name, in: folder) else {
      return cannotTell("\(describe(code)) (check the path; ffmount formats lists the names of views)")
    }
    if let reason = AbsentConversions.reason(forView: view, ofFileNamed: source) {
      return cannotTell("\(source) has no view \(view) because \(reason)")
    }
    if let foreign = ForeignFormat(of: folder + source) {
      return cannotTell("\(source) is \(foreign.name), whose content ffmount does not show (\(foreign.command))")
    }
    let advice = ViewNames.advice(on: view) { near in
      unsafe access("\(folder)\(source).\(near)", F_OK) == 0
        || AbsentConversions.reason(forView: near, ofFileNamed: source) != nil
    }
    return cannotTell(
      "\(source) exists but has no such view: its content is of another kind, no view has this name, or the mount is "
        + "older than the package that makes it (\(advice))")
  }

  /// Returns the existing file that a missing name would be a view of, and the view's name. Returns `nil` if there is
  /// none.
  private static func source(ofView name: String, in folder: String) -> (source: String, view: String)? {
    // The longest prefix of the name that is a file, also without its extension.
    var stem = name[...]
    while let dot = stem.lastIndex(of: "."), dot != stem.startIndex {
      let last = stem.index(after: dot)
      stem = stem[..<dot]
      let view = String(name[last...])
      if unsafe access(folder + stem, F_OK) == 0 { return (String(stem), view) }
      let ending = name[(name.lastIndex(of: ".") ?? dot)...]
      let sibling = stem + ending
      if sibling != name, unsafe access(folder + sibling, F_OK) == 0 { return (String(sibling), view) }
    }
    return nil
  }
}
