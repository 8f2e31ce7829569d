/// Contacts as rows of a CSV file (RFC 4180).
public enum ContactTable {
  public static let header =
    "Name,Given name,Family name,Organization,Title,E-mail,Phone,Address,Birthday,Web,Categories,Note\r\n"

  /// Returns the row of a contact. Returns `nil` for other entries.
  public static func row(_ entry: CardScanner.Entry) -> String? {
    guard entry.kind == "VCARD" else { return nil }
    func all(_ name: String, _ value: (ContentLine) -> String) -> String {
      entry.lines.filter { $0.name == name }.map(value).filter { !$0.isEmpty }.joined(separator: "; ")
    }
    let name = entry.first("N")?.parts ?? []
    let cells = [
      entry.contactName, name.count > 1 ? name[1] : "", name.first ?? "", entry.organization ?? "",
      entry.text("TITLE") ?? "", all("EMAIL") { $0.text }, all("TEL") { CardScanner.Entry.phone($0) },
      all("ADR") { CardScanner.Entry.address($0) }, CardScanner.Entry.date(entry.text("BDAY")) ?? "",
      all("URL") { $0.text }, all("CATEGORIES") { $0.text }, entry.text("NOTE") ?? "",
    ]
    return cells.map(cell).joined(separator: ",") + "\r\n"
  }

  private static func cell(_ text: String) -> String {
    guard text.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return text }
    return "\"\(text.replacing("\"", with: "\"\""))\""
  }
}
