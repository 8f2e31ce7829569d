import AllViews
import Assembly
import Tree

/// The last parts of the names of views, without modifiers, such as `as-jpeg`.
enum ViewNames {
  private static var all: Set<String> {
    let endings = Views.descriptions.flatMap { view -> [String] in
      let word = view.spelling.split(separator: ".").last.map { String($0.prefix { $0 != "/" }) } ?? ""
      return word.contains("FORMAT") ? [] : [word]
    }
    return Set(endings).union(Views.mimeTypes.map(\.ending))
  }

  private static func last(of view: String) -> String { view.split(separator: ".").last.map(String.init) ?? view }

  /// Returns whether a word ends as the name of a view does.
  static func contains(_ view: String) -> Bool { !view.contains("/") && all.contains(last(of: view)) }

  /// Returns advice on the end of a name that is not a view of a file.
  static func advice(on view: String) -> String {
    let (word, all) = (last(of: view), all)
    if all.contains(word) {
      let hasModifiers = view.contains(".") && word.hasPrefix("as-")
      return hasModifiers ? "see MODIFIERS in: man ffmount" : "run 'ffmount formats'"
    }
    let near = all.contains("as-\(word)") ? "as-\(word)" : Spelling.nearest(to: word, among: all)
    return near.map { "did you mean \($0)?" } ?? "run 'ffmount formats'"
  }
}
