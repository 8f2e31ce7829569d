internal import Text

/// HTML character references.
enum HTMLEntity {
  /// Returns the character of the reference at `start` (a `&`), and the index after it. Returns `nil` if it is not a
  /// reference.
  ///
  /// Numeric references may lack the `;`, named ones may not. The names are those of Latin-1 and the most common
  /// others.
  static func read(_ html: [UInt8], at start: Int) -> (Unicode.Scalar, end: Int)? {
    var index = start + 1
    guard index < html.count else { return nil }
    if html[index] == 0x23 { return number(html, at: index + 1) }
    while index < html.count, index - start <= 10, html[index].isLetterOrDigit { index += 1 }
    guard index < html.count, html[index] == 0x3b, index > start + 1 else { return nil }
    let name = String(decoding: html[(start + 1)..<index], as: UTF8.self)
    return named[name].map { ($0, index + 1) }
  }

  /// Returns `html` with all references resolved. O(n).
  static func resolved(_ html: ArraySlice<UInt8>) -> [UInt8] {
    let html = Array(html)
    guard var next = html.firstIndex(of: 0x26) else { return html }
    var result = Array(html[..<next])
    while next < html.count {
      if html[next] == 0x26, let (scalar, end) = read(html, at: next) {
        result += UTF8.encode(scalar) ?? .init()
        next = end
      } else {
        result.append(html[next])
        next += 1
      }
    }
    return result
  }

  private static func number(_ html: [UInt8], at start: Int) -> (Unicode.Scalar, end: Int)? {
    var index = start
    guard index < html.count else { return nil }
    let isHexadecimal = html[index] | 0x20 == 0x78
    if isHexadecimal { index += 1 }
    let digits = index
    var value: UInt32 = 0
    while index < html.count, let digit = html[index].hexValue, isHexadecimal || digit < 10 {
      value = min(value * (isHexadecimal ? 16 : 10) + UInt32(digit), 0x110000)
      index += 1
    }
    guard index > digits else { return nil }
    if index < html.count, html[index] == 0x3b { index += 1 }
    // Windows-1252 code points, and values that are not characters.
    if (0x80...0x9f).contains(value) { value = windows1252[Int(value - 0x80)] }
    if value < 0x20, value != 0x09, value != 0x0a { value = 0xfffd }
    return (Unicode.Scalar(value) ?? "\u{fffd}", index)
  }

  private static let windows1252: [UInt32] = [
    0x20ac, 0xfffd, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0xfffd,
    0x017d,
    0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153,
    0xfffd,
    0x017e, 0x0178,
  ]

  private static let named: [String: Unicode.Scalar] = {
    var named: [String: Unicode.Scalar] = [
      "amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'", "euro": "€", "hellip": "…", "ndash": "–",
      "mdash": "—",
      "lsquo": "‘", "rsquo": "’", "sbquo": "‚", "ldquo": "“", "rdquo": "”", "bdquo": "„", "bull": "•", "dagger": "†",
      "Dagger": "‡", "permil": "‰", "lsaquo": "‹", "rsaquo": "›", "trade": "™", "OElig": "Œ", "oelig": "œ",
      "Scaron": "Š",
      "scaron": "š", "Yuml": "Ÿ", "fnof": "ƒ", "circ": "ˆ", "tilde": "˜", "ensp": "\u{2002}", "emsp": "\u{2003}",
      "thinsp": "\u{2009}", "zwnj": "\u{200c}", "zwj": "\u{200d}", "larr": "←", "uarr": "↑", "rarr": "→", "darr": "↓",
      "harr": "↔", "minus": "−", "infin": "∞", "asymp": "≈", "ne": "≠", "le": "≤", "ge": "≥", "sum": "∑", "radic": "√",
      "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "pi": "π", "sigma": "σ", "omega": "ω", "Omega": "Ω",
      "Delta": "Δ", "lambda": "λ", "mu": "μ", "prime": "′", "Prime": "″", "spades": "♠", "clubs": "♣", "hearts": "♥",
      "diams": "♦", "check": "✓",
    ]
    // 160 to 255, in order.
    let latin1 = """
      nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para \
      middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave \
      Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc \
      Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc \
      iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml
      """
    for (index, name) in latin1.split(separator: " ").enumerated() {
      named[String(name)] = Unicode.Scalar(UInt8(160 + index))
    }
    return named
  }()
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    switch self {
    case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
    default: false
    }
  }
}
