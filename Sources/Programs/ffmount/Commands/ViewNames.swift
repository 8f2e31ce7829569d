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

  /// Returns the end of a view's name that is similar. Returns `nil` if there is none.
  static func near(_ view: String) -> String? {
    let (word, all) = (last(of: view), all)
    return all.contains("as-\(word)") ? "as-\(word)" : Spelling.nearest(to: word, among: all)
  }

  /// Returns advice on the end of a name that is not a view of a file. `isView` is whether the file has a view.
  static func advice(on view: String, isView: (String) -> Bool) -> String {
    let (word, all) = (last(of: view), all)
    if all.contains(word) {
      let hasModifiers = view.contains(".") && word.hasPrefix("as-")
      return hasModifiers ? "see MODIFIERS in: man ffmount" : "run 'ffmount formats'"
    }
    return near(view).flatMap { isView($0) ? $0 : nil }.map { "did you mean \($0)?" } ?? "run 'ffmount formats'"
  }
}
