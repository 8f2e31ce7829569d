/// The text of an entry for users.
extension CardScanner.Entry {
  func first(_ name: String) -> ContentLine? { lines.first { $0.name == name } }

  /// Returns the first nonempty text of the lines with a name.
  func text(_ name: String) -> String? { lines.lazy.filter { $0.name == name }.map(\.text).first { !$0.isEmpty } }

  /// The title. Nil for an entry that is not shown to users.
  var title: String? {
    switch kind {
    case "VCARD": contactName
    case "VTIMEZONE": nil
    case "VFREEBUSY": "Free and busy"
    default: text("SUMMARY") ?? "untitled"
    }
  }

  /// The display name of a contact.
  var contactName: String {
    if let name = text("FN") { return name }
    let parts = first("N")?.parts ?? []
    let order = [3, 1, 2, 0, 4].compactMap { parts.indices.contains($0) && !parts[$0].isEmpty ? parts[$0] : nil }
    if !order.isEmpty { return order.joined(separator: " ") }
    return first("ORG")?.parts.first { !$0.isEmpty } ?? text("NICKNAME") ?? text("EMAIL") ?? "unnamed"
  }

  /// The date at which the entry begins or is due. Nil if it has no date.
  var start: CardMoment? {
    for name in ["DTSTART", "DUE", "COMPLETED"] {
      if let line = first(name), let moment = CardMoment(line) { return moment }
    }
    return nil
  }

  /// The entry as text for users: a title, a line for each known property, and a description.
  public var readable: String {
    guard let title else { return "" }
    var text = Self.line(title) + "\n"
    func add(_ name: String, _ value: String?) {
      guard let value, !value.isEmpty else { return }
      text += "\(name): \(Self.line(value))\n"
    }
    if kind == "VCARD" {
      for (name, value) in contactFacts { add(name, value) }
    } else {
      for (name, value) in eventFacts { add(name, value) }
    }
    if let note = self.text(kind == "VCARD" ? "NOTE" : "DESCRIPTION") { text += "\n" + Self.paragraphs(note) + "\n" }
    return text
  }

  /// Returns a text in one line, without control characters.
  private static func line(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { isControl($0) ? " " : $0 }))
  }

  private static func paragraphs(_ text: String) -> String {
    var lines = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where scalar == "\n" || !isControl(scalar) { lines.append(scalar) }
    return String(lines)
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) || (0x202a...0x202e).contains(scalar.value)
      || (0x2066...0x2069).contains(scalar.value)
  }

  // MARK: Events

  private var eventFacts: [(String, String?)] {
    let end = first("DTEND").flatMap { CardMoment($0) }
    var facts: [(String, String?)] = []
    if let start = first("DTSTART").flatMap({ CardMoment($0) }) { facts.append(("When", start.text(to: end))) }
    if end == nil { facts.append(("Duration", text("DURATION"))) }
    facts.append(("Due", first("DUE").flatMap { CardMoment($0)?.text }))
    facts.append(("Completed", first("COMPLETED").flatMap { CardMoment($0)?.text }))
    facts += lines.filter { $0.name == "RRULE" }.map { ("Repeats", RepeatRule.words($0.text)) }
    let except = lines.filter { $0.name == "EXDATE" }.flatMap { line in
      line.text.split(separator: ",").compactMap { CardMoment(String($0), zone: line.values(of: "TZID").first)?.text }
    }
    facts.append(("Except", except.joined(separator: ", ")))
    facts.append(("Instead of", first("RECURRENCE-ID").flatMap { CardMoment($0)?.text }))
    facts.append(("Where", text("LOCATION")))
    facts.append(("Organizer", first("ORGANIZER").map { Self.person($0) }))
    facts += lines.filter { $0.name == "ATTENDEE" }.map { ("Attendee", Self.person($0)) }
    facts.append(("Status", text("STATUS")?.lowercased()))
    facts.append(("Categories", lists("CATEGORIES")))
    facts.append(("Web", text("URL")))
    return facts
  }

  private func lists(_ name: String) -> String {
    lines.filter { $0.name == name }.flatMap { ContentLine.parts($0.escaped[...], at: ",") }.joined(separator: ", ")
  }

  private static func person(_ line: ContentLine) -> String {
    let value = line.text
    let address = value.lowercased().hasPrefix("mailto:") ? String(value.dropFirst(7)) : value
    let name = line.values(of: "CN").joined(separator: ",")
    let answer = line.values(of: "PARTSTAT").first.map { $0.lowercased() } ?? ""
    let shown = name.isEmpty || name == address ? address : "\(name) <\(address)>"
    return answer.isEmpty || answer == "needs-action" ? shown : "\(shown), \(answer)"
  }

  // MARK: Contacts

  private var contactFacts: [(String, String?)] {
    var facts: [(String, String?)] = [
      ("Nickname", text("NICKNAME")), ("Organization", organization), ("Title", text("TITLE")), ("Role", text("ROLE")),
    ]
    facts += labelled("E-mail", "EMAIL") { $0.text }
    facts += labelled("Phone", "TEL") { Self.phone($0) }
    facts += labelled("Address", "ADR") { Self.address($0) }
    facts += labelled("Web", "URL") { $0.text }
    facts += labelled("Chat", "IMPP") { $0.text }
    facts.append(("Birthday", Self.date(text("BDAY"))))
    facts.append(("Anniversary", Self.date(text("ANNIVERSARY"))))
    facts += labelled("Date", "X-ABDATE") { Self.date($0.text) ?? "" }
    facts += labelled("Related", "X-ABRELATEDNAMES") { $0.text }
    facts.append(("Categories", lists("CATEGORIES")))
    return facts
  }

  var organization: String? {
    first("ORG").map { $0.parts.filter { !$0.isEmpty }.joined(separator: ", ") }
  }

  static func date(_ text: String?) -> String? { text.map { CardMoment($0)?.date ?? $0 } }
  static func phone(_ line: ContentLine) -> String {
    let text = line.text
    return text.hasPrefix("tel:") ? String(text.dropFirst(4)) : text
  }
  /// Returns an address as street, box, extension, code, locality, region and country.
  static func address(_ line: ContentLine) -> String {
    let parts = line.parts
    return [2, 0, 1, 5, 3, 4, 6].compactMap { parts.indices.contains($0) && !parts[$0].isEmpty ? parts[$0] : nil }
      .joined(separator: ", ").replacing("\n", with: ", ")
  }

  /// Returns the values of lines with their kinds: the label of the line's group, or else the line's types.
  private func labelled(
    _ title: String, _ name: String, _ value: (ContentLine) -> String
  ) -> [(String, String?)] {
    lines.filter { $0.name == name }.map { line in
      let label = line.group.isEmpty ? nil : lines.first { $0.name == "X-ABLABEL" && $0.group == line.group }?.text
      let own = label.map { $0.replacing("_$!<", with: "").replacing(">!$_", with: "").lowercased() }
      let types = line.types.filter { !["internet", "voice", "pref", "x-internet"].contains($0) }
      let kinds = own.map { [$0] } ?? types
      return (kinds.isEmpty ? title : "\(title) (\(kinds.joined(separator: ", ")))", value(line))
    }
  }
}
