extension String {
  /// Whether following this link only shows a page or writes a mail.
  var isHarmlessLink: Bool {
    let start = prefix { $0 != ":" && $0 != "/" && $0 != "#" && $0 != "?" }
    guard start.endIndex < endIndex, self[start.endIndex] == ":" else { return true }
    return ["http", "https", "mailto", "ftp", "tel"].contains(start.lowercased())
  }
}
