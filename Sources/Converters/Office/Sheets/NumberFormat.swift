/// The format of a number or a text in a cell, by a format code such as `#,##0.00;[Red]-#,##0.00` (ECMA-376, part 1,
/// 18.8.31). Names of months and days are in English.
struct NumberFormat {
  private let sections: [FormatSection]

  init(_ code: String) {
    // Codes have at most 255 characters.
    sections = FormatSection.all(of: String(code.prefix(1024)))
  }

  func text(_ value: Double, isSince1904: Bool) -> String {
    guard value.isFinite else { return "#NUM!" }
    let numbers = sections.prefix(3)
    var (index, isSigned) = (0, value < 0)
    if numbers.contains(where: { $0.condition != nil }) {
      index = numbers.firstIndex { $0.condition?.holds(value) ?? true } ?? numbers.count - 1
      isSigned = value < 0 && numbers[index].condition?.isOfNegativeOnly != true
    } else if value < 0, numbers.count > 1 {
      (index, isSigned) = (1, false)
    } else if value == 0, numbers.count > 2 {
      index = 2
    }
    let section = numbers[index]
    if section.isDate {
      return DateText(serial: value, isSince1904: isSince1904, section).text ?? DecimalDigits(value).general
    }
    if section.tokens.contains(.text), !section.hasDigits { return DecimalDigits(value).general }
    let text = NumberText(section, DecimalDigits(abs(value))).text
    // A number that rounds to zero has no sign.
    return isSigned && text.utf8.contains { (0x31...0x39).contains($0) } ? "-" + text : text
  }

  func text(_ value: String) -> String {
    guard let section = sections.count > 3 ? sections[3] : sections.last(where: { $0.tokens.contains(.text) }) else {
      return value
    }
    return section.tokens.reduce(into: "") { text, token in
      switch token {
      case .literal(let words): text += words
      case .text: text += value
      default: break
      }
    }
  }
}
