internal import WorkerKit

/// A contact or an appointment of Outlook in the format of other programs. It is a file attached to the text.
struct OutlookEntry {
  let name: String
  let type: String
  let text: String

  /// Returns `nil` if the message is neither, or lacks a name or a time.
  init?(_ message: OutlookMessage) throws(JobFailure) {
    let properties = message.properties
    let kind = try properties.text(0x1a) ?? ""
    if kind.hasPrefix("IPM.Contact"), let card = try Self.card(properties) {
      (name, type, text) = ("contact.vcf", "text/vcard; charset=utf-8", card)
    } else if kind.hasPrefix("IPM.Appointment"), let event = try Self.event(properties) {
      (name, type, text) = ("appointment.ics", "text/calendar; charset=utf-8", event)
    } else {
      return nil
    }
  }

  /// Returns a vCard (RFC 2426).
  private static func card(_ properties: any MessageProperties) throws(JobFailure) -> String? {
    guard let name = try properties.text(anyOf: [0x3001, 0x3a16, 0x37]) else { return nil }
    var lines = ["BEGIN:VCARD", "VERSION:3.0", "FN:" + escaped(name)]
    func add(_ head: String, _ ids: [UInt16]) throws(JobFailure) {
      var parts: [String] = []
      for id in ids { parts.append(escaped(id == 0 ? "" : try properties.text(id) ?? "")) }
      if parts.contains(where: { !$0.isEmpty }) { lines.append(head + ":" + parts.joined(separator: ";")) }
    }
    try add("N", [0x3a11, 0x3a06, 0x3a44, 0x3a45, 0x3a05])
    try add("ORG", [0x3a16, 0x3a18])
    try add("TITLE", [0x3a17])
    for id: UInt32 in [0x8083, 0x8093, 0x80a3] {
      if let tag = properties.tag(named: id) { try add("EMAIL;TYPE=INTERNET", [tag]) }
    }
    for (type, id) in [("WORK", 0x3a08), ("HOME", 0x3a09), ("CELL", 0x3a1c), ("WORK,FAX", 0x3a24)] as [(String, UInt16)]
    {
      try add("TEL;TYPE=\(type)", [id])
    }
    try add("ADR;TYPE=WORK", [0, 0, 0x3a29, 0x3a27, 0x3a28, 0x3a2a, 0x3a26])
    try add("ADR;TYPE=HOME", [0, 0, 0x3a5d, 0x3a59, 0x3a5c, 0x3a5b, 0x3a5a])
    try add("URL", [0x3a51])
    if let birthday = properties.time(0x3a42).flatMap(moment) { lines.append("BDAY:" + birthday.prefix(8)) }
    return (lines + ["END:VCARD", ""]).joined(separator: "\r\n")
  }

  /// Returns an event of iCalendar (RFC 5545), without its recurrence rule.
  private static func event(_ properties: any MessageProperties) throws(JobFailure) -> String? {
    func time(_ id: UInt32, _ other: UInt16) -> String? {
      (properties.tag(named: id).flatMap(properties.time) ?? properties.time(other)).flatMap(moment)
    }
    guard let start = time(0x820d, 0x60) else { return nil }
    let stamp = properties.time(0x3008).flatMap(moment) ?? start
    var lines = [
      "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//ffmount//EN", "BEGIN:VEVENT", "UID:\(start)-\(stamp)@ffmount",
      "DTSTAMP:\(stamp)", "DTSTART:\(start)",
    ]
    if let end = time(0x820e, 0x61) { lines.append("DTEND:\(end)") }
    if let subject = try properties.text(0x37) { lines.append("SUMMARY:" + escaped(subject)) }
    if let place = try properties.tag(named: 0x8208).flatMap({ tag throws(JobFailure) in try properties.text(tag) }) {
      lines.append("LOCATION:" + escaped(place))
    }
    if let text = try properties.text(0x1000) { lines.append("DESCRIPTION:" + escaped(text)) }
    return (lines + ["END:VEVENT", "END:VCALENDAR", ""]).joined(separator: "\r\n")
  }

  private static func moment(_ seconds: Int64) -> String? { OutlookDate.basic(seconds) }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\", ",", ";": escaped += "\\\(scalar)"
      case "\n": escaped += "\\n"
      case "\r": continue
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
