extension String {
  /// Whether following it as a link does no more than show a page or write a mail.
  var isHarmlessLink: Bool {
    let start = prefix { $0 != ":" && $0 != "/" && $0 != "#" && $0 != "?" }
    guard start.endIndex < endIndex, self[start.endIndex] == ":" else { return true }
    return ["http", "https", "mailto", "ftp", "tel"].contains(start.lowercased())
  }
}
