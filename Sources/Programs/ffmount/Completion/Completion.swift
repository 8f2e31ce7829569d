import ArgumentParser
import Assembly
import Glibc

/// The shell completions of the last word of an unfinished command line.
///
/// The scripts in `scripts/completions` request them with `ffmount --complete WORD…` and contain no names themselves.
struct Completion {
  struct Candidate {
    /// The completed word. If it ends in `=` or `/`, it can be continued.
    let text: String
    var meaning = ""
  }

  /// The file names that the shell adds by itself, with its own rules for quotes and `~`.
  enum Names: String { case none, files, folders }

  private(set) var names = Names.none
  private(set) var candidates: [Candidate] = []

  /// - Parameter words: the words after the program's name. The last one, which may be empty, is completed.
  init(of words: [String]) {
    guard let program = CommandShape.program(), let word = words.last else { return }
    var place = CommandPlace(program)
    for word in FFMount.withCommand(words.dropLast()) { place.pass(word) }
    if let option = place.pending {
      complete(word, valueOf: option)
    } else if place.isPastOptions || !word.hasPrefix("-") {
      if place.isFirst { candidates = (place.command.subcommands ?? []).compactMap(Candidate.init) }
      names = place.argument?.fileNames ?? .none
      if ["unmount", "upgrade", "doctor"].contains(place.command.commandName) { completeMountpoint(word) }
    } else if word.hasPrefix("-o"), let option = place.effective.option("-o") {
      complete(word, valueOf: option, after: "-o")
    } else {
      candidates = (place.effective.arguments ?? []).flatMap(\.spellings)
      if place.isFirst, place.command.usual != nil {
        candidates += FFMount.shortcuts.map { Candidate(text: $0.key, meaning: $0.value) }
      }
    }
    candidates.removeAll { !$0.text.hasPrefix(word) }
  }

  private mutating func completeMountpoint(_ word: String) {
    candidates = MountTable().ours.map { Candidate(text: $0.mountpoint, meaning: $0.source) }
    // Offers other directories only if no mountpoint matches, for instance for a relative path.
    if candidates.contains(where: { $0.text.hasPrefix(word) }) { names = .none }
  }

  private mutating func complete(_ word: String, valueOf option: CommandShape.Argument, after head: String = "") {
    guard option.spellings.contains(where: { $0.text == "-o" }) else {
      names = option.fileNames
      return
    }
    candidates = MountOptions.candidates(completing: String(word.dropFirst(head.count)))
    if !head.isEmpty { candidates = candidates.map { Candidate(text: head + $0.text, meaning: $0.meaning) } }
  }

  /// The output: the kind of file names to add on the first line, then the candidates, each followed by a tab and its
  /// meaning.
  var text: String {
    ([names.rawValue] + candidates.map { "\($0.text)\t\($0.meaning)" }).joined(separator: "\n")
  }

  /// Returns the files whose path starts with `path`. Directories end in a slash. Blocks while the directory is read.
  static func paths(continuing path: String) -> [String] {
    let folder = path.prefix(upTo: path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex)
    let start = path.dropFirst(folder.count)
    guard let opened = unsafe opendir(folder.isEmpty ? "." : String(folder)) else { return [] }
    defer { unsafe closedir(opened) }
    var paths: [String] = []
    while let entry = unsafe readdir(opened) {
      let bytes = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { unsafe Array($0.prefix { $0 != 0 }) }
      guard let name = String(validating: bytes, as: UTF8.self), name.hasPrefix(start), name != ".", name != "..",
        !name.hasPrefix(".") || !start.isEmpty
      else { continue }
      var status = stat()
      let isFolder = unsafe stat(folder + name, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
      paths.append(folder + name + (isFolder ? "/" : ""))
    }
    return paths.sorted()
  }
}

extension Completion.Candidate {
  /// Returns `nil` for a hidden command.
  fileprivate init?(_ command: CommandShape) {
    guard command.shouldDisplay else { return nil }
    self.init(text: command.commandName, meaning: command.abstract ?? "")
  }
}

extension CommandShape.Argument {
  /// The spellings of an option that is not hidden.
  fileprivate var spellings: [Completion.Candidate] {
    shouldDisplay ? (names ?? []).map { Completion.Candidate(text: $0.text, meaning: abstract ?? "") } : []
  }

  fileprivate var fileNames: Completion.Names {
    completionKind?.file != nil ? .files : completionKind?.directory != nil ? .folders : .none
  }
}
