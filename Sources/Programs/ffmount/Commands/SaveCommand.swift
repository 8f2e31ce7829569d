import AllViews
import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Glibc
import SystemPackage
import Tree

/// `ffmount save VIEW FILE…`: writes views of files to files, without a mount.
struct SaveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "save", abstract: "Converts files without a mount: ffmount save as-jpeg photo.heic.",
    usage: "ffmount save VIEW FILE… [--to FOLDER] [-o password_file=FILE]",
    discussion: """
      VIEW is the end of a view's name, with any modifiers: as-jpeg, 1600px.q70.as-jpeg, as-txt, compressed.pdf. \
      ffmount formats lists the views. The result is written beside FILE, as photo.jpg, or as 'photo (1).jpg' if that \
      exists. Its path is printed. Without a terminal, failures are shown in a window.
      """)

  @Argument(help: "The end of a view's name, such as as-jpeg.")
  var view: String

  @Argument(help: "The files to convert.", completion: .file())
  var files: [String]

  @Option(help: ArgumentHelp("Write into this folder.", valueName: "folder"), completion: .directory)
  var to: String?

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("password_file=FILE with passwords, one per line.", valueName: "options"))
  var options: [String] = []

  func validate() throws {
    if let meant = files.last, ViewNames.contains(meant), unsafe access(view, F_OK) == 0,
      unsafe access(meant, F_OK) != 0
    {
      let words = [meant, view] + files.dropLast()
      let line = words.map(ShellWord.quoted).joined(separator: " ")
      throw ValidationError("'\(view)' is a file, and the view comes first (type: ffmount save \(line))")
    }
    guard !view.isEmpty, !view.contains("/"), view.first != "." else {
      throw ValidationError("'\(view)' is not the end of a view's name (try as-jpeg; see 'ffmount formats')")
    }
  }

  func run() throws { try Dialog.reporting { try save() } }

  private func save() throws {
    if let to { try RunningMount.expectAnswers(onTheWayTo: [to], toDo: "write into") }
    let more = try TreeOptions(options, accepting: TreeOptions.ofPasswords)
    var failures: [Refusal] = []
    for (parent, names) in filesByFolder(&failures) {
      guard let target = try to ?? target(insteadOf: parent) else { continue }
      let place: CommandTree
      do { place = try CommandTree(parent + "/" + names[0], more) } catch let refusal as Refusal {
        failures.append(refusal)
        continue
      }
      let isMounted = MountTable().mount(of: parent.isEmpty ? "/" : parent)?.isOurs ?? false
      let refusals = try? place.finish { [view] (tree, _) throws(FileTreeError) in
        await Self.save(names.map { SavedView(of: $0, view, in: tree, isMounted: isMounted) }, into: target)
      }
      failures += refusals ?? []
    }
    guard let last = failures.last else { return }
    for refusal in failures.dropLast() { Terminal.logError(refusal.sentence) }
    let others = failures.count == 1 ? "" : " (and \(failures.count - 1) more of \(files.count) files failed)"
    throw Refusal(last.status, last.sentence + others)
  }

  /// Writes views into a directory, several at a time. Returns the failures.
  private static func save(_ views: [SavedView], into folder: String) async -> [Refusal] {
    await withTaskGroup(of: Refusal?.self) { group in
      var (rest, failures) = (views[...], [Refusal]())
      for view in rest.prefix(jobs) { group.addTask { await print(view, in: folder) } }
      rest = rest.dropFirst(jobs)
      while let ended = await group.next() {
        if let ended { failures.append(ended) }
        guard let view = rest.popFirst() else { continue }
        group.addTask { await print(view, in: folder) }
      }
      return failures
    }
  }

  /// Writes a view into a directory and prints the path. Returns the failure.
  private static func print(_ view: SavedView, in folder: String) async -> Refusal? {
    do {
      Swift.print(try await view.write(into: folder))
      return nil
    } catch let refusal as Refusal { return refusal } catch { return Refusal(.failure, "\(error)") }
  }

  private static let jobs = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// Returns the directory to write into: `folder`, or one that the user chooses if that cannot be written and a window
  /// is needed. Returns `nil` if the user cancels.
  private func target(insteadOf folder: String) throws -> String? {
    if unsafe access(folder.isEmpty ? "/" : folder, W_OK) == 0 || !Dialog.isNeeded { return folder }
    return try Dialog.chooseFolder()
  }

  /// Returns the given files by their directories, in the given order, with links resolved. Files that cannot be found
  /// are added to `failures`.
  private func filesByFolder(_ failures: inout [Refusal]) -> [(folder: String, names: [String])] {
    var folders: [(folder: String, names: [String])] = []
    for file in files {
      let path: String
      do { path = try Self.resolved(file) } catch {
        failures.append(error)
        continue
      }
      let slash = path.lastIndex(of: "/") ?? path.startIndex
      let (folder, name) = (String(path[..<slash]), String(path[path.index(after: slash)...]))
      if let known = folders.firstIndex(where: { $0.folder == folder }) {
        folders[known].names.append(name)
      } else {
        folders.append((folder, [name]))
      }
    }
    return folders
  }

  private static func resolved(_ file: String) throws(Refusal) -> String {
    if let objection = RunningMount.objection(toPassing: file) {
      throw Refusal(.sourceMissing, "cannot read \(file): \(objection)")
    }
    guard let path = MountTable.resolved(file) else {
      let code = errno
      let advice = [ENOENT, ENOTDIR].contains(code) ? " (check the path)" : Refusal.readAdvice(code)
      throw Refusal(.sourceMissing, "cannot read \(file): \(describe(code))\(advice)")
    }
    return path
  }
}

/// A view of a file that is written to a file.
private struct SavedView {
  private let tree: FileTree
  private let file: String
  private let ending: String
  /// Whether the root of the tree is in a mount of ffmount, in which the views are real files for this process.
  private let isMounted: Bool

  init(of file: String, _ ending: String, in tree: FileTree, isMounted: Bool) {
    (self.tree, self.file, self.ending, self.isMounted) = (tree, file, ending, isMounted)
  }

  /// The name of the file without its extension.
  private var stem: String { FilePath(file).stem ?? file }

  /// Writes the view to a new file of a directory. Returns the file's path.
  func write(into folder: String) async throws -> String {
    do {
      let (path, attributes) = try await found()
      // Bytes of a private file stay private.
      let mode = attributes.permissions.rawValue & 0o666 | 0o200
      var output: (path: String, descriptor: Int32)?
      defer { if let output { close(output.descriptor) } }
      do {
        for try await chunk in tree.chunks(of: path) {
          let target = try output ?? Self.create(in: folder, resultName, mode)
          output = target
          try Output.write(chunk, to: target.descriptor)
        }
      } catch {
        if let output { _ = unsafe unlink(output.path) }
        throw error
      }
      // A remark says that the result lacks something, or is the original.
      if let remark = try await tree.extendedAttribute("user.ffmount.remark", of: path) {
        Terminal.logError(String(decoding: remark, as: UTF8.self))
      }
      return try (output ?? Self.create(in: folder, resultName, mode)).path
    } catch let error as FileTreeError {
      let isUnreadable = error.code == .permissionDenied
      throw Refusal(
        isUnreadable ? .sourceMissing : .failure,
        "cannot convert \(file) \(ending): \(error.sentence)\(error.readAdvice)")
    } catch let error as SystemError {
      let advice = Refusal.writeAdvice(error.code, in: folder, other: "give another folder with --to FOLDER")
      throw Refusal(.failure, "cannot write \(resultName) in \(folder): \(describe(error.code))\(advice)")
    }
  }

  /// Returns the path and the attributes of the view: `NAME.ENDING`, or `STEM.ENDING` for names such as
  /// `STEM.compressed.pdf`.
  private func found() async throws -> (FilePath, FileTree.Attributes) {
    for name in ["\(file).\(ending)", "\(stem).\(ending)"] {
      let path = FilePath(root: nil, [FilePath.Component(name)].compactMap { $0 })
      do {
        let attributes = try await tree.attributes(of: path)
        guard attributes.isView || isMounted else { continue }
        guard attributes.kind == .file else {
          throw Refusal(.usage, "cannot save \(ending) of \(file): a folder (copy it from a mount)")
        }
        return (path, attributes)
      } catch let error as FileTreeError where error.code == .notFound { continue }
    }
    let lack = AbsentConversions.reason(forView: ending, ofFileNamed: file)
    let near = FilePath(root: nil, [FilePath.Component("\(file).\(ViewNames.near(ending) ?? "")")].compactMap { $0 })
    let isNearView = (try? await tree.attributes(of: near).isView || isMounted) ?? false
    let reason = lack ?? "not a view of this file (\(ViewNames.advice(on: ending) { _ in isNearView }))"
    throw Refusal(.sourceUnsuitable, "cannot save \(ending) of \(file): \(reason)")
  }

  /// The name of the result: `photo.1600px.jpg` for `1600px.as-jpeg` of `photo.heic`.
  private var resultName: String {
    guard let last = ending.split(separator: ".").last, let ext = Views.fileExtension(ofEnding: String(last)) else {
      return "\(stem).\(ending)"
    }
    return "\(stem).\(ending.dropLast(last.count))\(ext)"
  }

  /// Creates a file of this name, with a number before its extension if it exists.
  private static func create(in folder: String, _ name: String, _ mode: mode_t) throws(SystemError) -> (
    path: String, descriptor: Int32
  ) {
    let dot = name.lastIndex(of: ".") ?? name.endIndex
    for number in 0..<mostNumbers {
      let path = "\(folder)/\(name[..<dot])\(number == 0 ? "" : " (\(number))")\(name[dot...])"
      let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode)
      if descriptor >= 0 { return (path, descriptor) }
      guard errno == EEXIST else { throw SystemError(code: errno) }
    }
    throw SystemError(code: EEXIST)
  }

  /// The maximum number of files of one name.
  private static let mostNumbers = 10_000
}
