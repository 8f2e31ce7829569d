import ArgumentParser
import Assembly
import FileTrees
import Files
import Glibc

/// `ffmount open FILE`: mounts a file or directory below the user's runtime directory and shows it.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Mounts one file or folder temporarily, and shows it.",
    usage: "ffmount open FILE [--print] [--idle SECONDS] [--search QUERY]",
    discussion: """
      Shows it in the file manager if there is a desktop. The folder, which is printed, is below \
      $XDG_RUNTIME_DIR/ffmount, else /tmp/ffmount-UID. It is unmounted and removed when it has not been used for a while. A file that is \
      already open is shown again, and a file in a mount is shown there. Without a terminal, failures are shown in a \
      window.
      """)

  @Argument(help: "The file or folder to show.", completion: .file())
  var file: String

  @Flag(help: "Print the folder, and do not start a file manager.")
  var print = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Unmount after the given number of seconds without use.", valueName: "seconds"))
  var idle = 600

  @Option(
    help: ArgumentHelp(
      "Show what matches in the folder, or the messages that match in the mailbox; an empty query is asked for in a window.",
      valueName: "query"))
  var search: String?

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("Mount options, separated by commas (see man ffmount).", valueName: "options"))
  var options: [String] = []

  func run() throws { try Dialog.reporting { try open() } }

  private func open() throws {
    try RunningMount.expectAnswers(onTheWayTo: [file], toDo: "open")
    guard let source = MountTable.resolved(file) else {
      let advice = ServerAccess.isAddress(file) ? "mount it: ffmount \(file) MOUNTPOINT" : "check the path"
      throw Refusal(.sourceMissing, "cannot open \(file): \(describe(errno)) (\(advice))")
    }
    let folder: String
    if let search {
      guard let found = try folderOfHits(in: source, search) else { return }
      folder = found
    } else {
      folder = try OpenedView(of: source)?.folder ?? mounted(file, source)
    }
    Swift.print(folder)
    if !print { try show(folder) }
    if search == nil { warn(of: folder) }
  }

  /// Reports the reason why only a part of a file is shown. A password that is missing has been asked for.
  private func warn(of folder: String) {
    let view = OwnAttributes(of: folder)
    guard view.state == "failed", let error = view.error, !error.contains("password") else { return }
    let prefix = (view.source.flatMap { $0.split(separator: "/").last } ?? "") + ": "
    let reason = error.hasPrefix(prefix) ? String(error.dropFirst(prefix.count)) : error
    Dialog.warn("cannot show all of \(file): \(reason)")
  }

  /// Mounts a file or directory, unless it is open already. Returns the mountpoint.
  ///
  /// - Parameter source: The absolute path without links of `given`.
  private func mounted(_ given: String, _ source: String) throws -> String {
    let options = try MountOptions(["idle=\(idle)"] + options)
    let place = try OpenedPlace(for: source)
    guard let plan = try mount(given, options, on: place) else { return place.folder }
    plan.askForPassword()
    return place.folder
  }

  /// Mounts a file or directory. Returns `nil` if that has been done already.
  private func mount(_ given: String, _ options: MountOptions, on place: OpenedPlace) throws -> MountPlan? {
    defer { place.release() }
    if place.isMounted { return nil }
    do {
      let plan = try MountPlan(source: given, mountpoint: place.folder, options)
      try plan.run(inForeground: false) { place.remove() }
      return plan
    } catch {
      place.remove()
      throw error
    }
  }

  /// Returns the directory of the files in a directory, or of the messages in a mailbox, that match a query. Returns
  /// `nil` if the user is asked for the query, and cancels.
  private func folderOfHits(in source: String, _ query: String) throws -> String? {
    let isOfMail = CommandTree.isOfMail(source)
    if let objection = FileTree.objection(to: query, ofMail: isOfMail), !query.isEmpty {
      throw Refusal(.usage, "cannot search \(file): \(objection) (see: ffmount help search)")
    }
    let results = try isOfMail ? mailResults(of: source) : documentResults(of: source)
    let name = source.split(separator: "/").last ?? "/"
    guard let query = query.isEmpty ? try Dialog.ask("Search \(name)") : query else { return nil }
    // A name cannot contain a slash. Words are separated by any other character than letters and digits.
    let folder = "\(results)/\(query.replacing("/", with: " "))"
    guard let hits = unsafe opendir(folder) else {
      throw Refusal(.failure, "cannot search \(file) for '\(query)': \(describe(errno)) (see 'ffmount help search')")
    }
    defer { unsafe closedir(hits) }
    // An invalid query has no messages, and a reason.
    for _ in [".", ".."] { unsafe _ = readdir(hits) }
    let isEmpty = unsafe readdir(hits) == nil
    let search = OwnAttributes(of: folder)
    if isEmpty, let error = search.error { throw Refusal(.usage, "cannot search \(file): \(error)") }
    if search.results == "0", search.state == "exact" {
      throw Refusal(.failure, "nothing in \(file) matches \(query)")
    }
    return folder
  }

  /// Returns the directory with the results of searches of a directory.
  private func documentResults(of source: String) throws -> String {
    let isInMount = MountTable().mount(of: source)?.isOurs ?? false
    let results = "\(isInMount ? source : try mounted(file, source))/.search"
    guard unsafe access(results, F_OK) == 0 else {
      throw Refusal(.sourceUnsuitable, "cannot search \(file): inside a view (search the folder that the view is in)")
    }
    return results
  }

  /// Returns the directory with the results of searches of a mailbox, in a mount of its parent directory.
  private func mailResults(of source: String) throws -> String {
    let slash = source.lastIndex(of: "/") ?? source.startIndex
    let (parent, name) = (String(source[..<slash]), String(source[source.index(after: slash)...]))
    let isInMount = MountTable().mount(of: source)?.isOurs ?? false
    let top = isInMount ? parent : try mounted(parent.isEmpty ? "/" : parent, parent.isEmpty ? "/" : parent)
    let views = "\(top)/\(name).views"
    guard unsafe access(views, F_OK) == 0 else {
      throw Refusal(.sourceUnsuitable, "cannot search \(file): no mail in it (give a mailbox or a folder)")
    }
    return views + "/search"
  }

  /// Starts the file manager if there is a desktop session.
  private func show(_ folder: String) throws {
    guard Dialog.hasDisplay else { return }
    guard let opener = Subprocess.path(of: "xdg-open") else {
      throw Refusal(.failure, "cannot show \(folder): no xdg-open (install it with: apt install xdg-utils)")
    }
    guard let child = Subprocess.detach(opener, [folder]) else {
      throw Refusal(.failure, "cannot show \(folder): \(opener): \(describe(errno))")
    }
    // xdg-open exits at once, or is the file manager itself, which keeps running.
    var status: Int32 = 0
    for _ in 0..<Self.looks {
      if unsafe waitpid(child, &status, WNOHANG) != 0 { break }
      _ = usleep(Self.pause)
    }
    guard status == 0 else {
      throw Refusal(.failure, "cannot show \(folder): xdg-open found no file manager (install one, or use the folder)")
    }
  }

  /// The number of times xdg-open is checked for failure, and the interval in microseconds.
  private static let looks = 40
  private static let pause: UInt32 = 50_000
}
