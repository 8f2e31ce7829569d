import AllViews
import Assembly
import Bytes
import Catalogue
import FileTrees
import Tree

extension MountOptions {
  /// Returns the completions of a list of `-o`. Each candidate is the list with its last option or value completed.
  /// Reads a directory if the value is a path.
  static func candidates(completing list: String) -> [Completion.Candidate] {
    let options = split(list)
    guard let last = options.last else { return [] }
    let head = list.dropLast(last.count)
    guard let equals = last.firstIndex(of: "=") else {
      let given = Set(options.dropLast().map { $0.prefix { $0 != "=" } })
      return names.filter { !given.contains($0.text.prefix { $0 != "=" }) }.map { name in
        Completion.Candidate(text: head + name.text, meaning: name.meaning)
      }
    }
    let (name, value) = (last[...equals], last[last.index(after: equals)...])
    return candidates(for: table[String(name.dropLast())]?.value, completing: String(value)).map { candidate in
      Completion.Candidate(text: head + name + candidate.text, meaning: candidate.meaning)
    }
  }

  /// The names of all options. Those with a value end in `=`.
  private static var names: [Completion.Candidate] {
    let own = table.map { name, option in
      Completion.Candidate(text: option.value == nil ? name : name + "=", meaning: option.meaning)
    }
    let others = ignored.union(kernelFlags).map { Completion.Candidate(text: $0, meaning: "as in mount(8)") }
    return own.sorted { $0.text < $1.text } + others.sorted { $0.text < $1.text }
  }

  private static func candidates(for kind: MountOption.Value?, completing value: String) -> [Completion.Candidate] {
    switch kind {
    case nil, .free: []
    case .words(let words): words.map { Completion.Candidate(text: $0) }
    case .file: Completion.paths(continuing: value).map { Completion.Candidate(text: $0) }
    case .identity(let kind): kind.names.map { Completion.Candidate(text: $0) }
    case .listing: listings(completing: value)
    case .languages: languages(completing: value)
    }
  }

  private static func languages(completing value: String) -> [Completion.Candidate] {
    let head = value.prefix(upTo: value.lastIndex(of: "+").map { value.index(after: $0) } ?? value.startIndex)
    let given = Set(head.split(separator: "+").map(String.init))
    return LocalLanguages.installed.filter { !given.contains($0) }.map { code in
      Completion.Candidate(text: head + code, meaning: ReadingLanguages.names[code] ?? "")
    }
  }

  private static func listings(completing value: String) -> [Completion.Candidate] {
    let head = value.prefix(upTo: value.lastIndex(of: ":").map { value.index(after: $0) } ?? value.startIndex)
    let usual = Set(Views.descriptions.flatMap(\.listed))
    let extensions = Views.possibleExtensions.map(\.text).sorted().map { name in
      usual.contains(name)
        ? Completion.Candidate(text: head + "-" + name, meaning: "do not list its views")
        : Completion.Candidate(text: head + "+" + name, meaning: "list its views")
    }
    let views = Views.listedNames.sorted().map { name in
      Completion.Candidate(text: head + "-" + name, meaning: "do not list this view")
    }
    let presets = ViewListing.Preset.allCases.map { preset in
      Completion.Candidate(text: head + preset.rawValue, meaning: preset.meaning)
    }
    return (head.isEmpty ? presets : []) + views + extensions
  }
}

extension ViewListing.Preset {
  fileprivate var meaning: String {
    switch self {
    case .all: "list views everywhere"
    case .usual: "list views of real files; in views, only those that open a file or show an image"
    case .folders: "list only archives, mailboxes and messages as folders"
    case .none: "list no views"
    }
  }
}
