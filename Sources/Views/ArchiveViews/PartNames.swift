internal import Bytes

/// The names of the other parts of a split file.
struct PartNames {
  private let style: Style
  private let stem: ArraySlice<UInt8>

  private enum Style {
    /// `a.zip`, the last one, and `a.z01`, with letters in the case of the last one.
    case numberedZip(ArraySlice<UInt8>)
    /// `a.zip.001`, the first one.
    case numbered
    /// `a.part01.rar`, the first one: the number of digits, and the text after them.
    case volumes(Int, ArraySlice<UInt8>)
    /// `a.rar`, the first one, and `a.r00` up to `a.z99`, with a letter in the case of the first one.
    case oldVolumes(UInt8)
  }

  /// Whether the other parts precede the given one.
  var areBefore: Bool { if case .numberedZip = style { true } else { false } }

  /// Creates the names. Returns `nil` if `name` is not that of a split file's part.
  init?(_ name: FileName) {
    guard let fileExtension = name.fileExtension, let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else {
      return nil
    }
    let spelling = name.bytes[(dot + 1)...]
    var stem = name.bytes[...dot]
    switch fileExtension {
    case SplitFile.first: style = .numbered
    // The letters have the case of the last part's.
    case "zip": style = .numberedZip(spelling.prefix(1))
    case "zipx": style = .numberedZip(spelling.prefix(1) + spelling.suffix(1))
    case "rar", "cbr":
      if let digits = Self.volumeDigits(before: dot, in: name) {
        guard digits == Self.digits(1, digits.count)[...] else { return nil }
        style = .volumes(digits.count, name.bytes[dot...])
        stem = name.bytes[..<digits.startIndex]
      } else {
        guard let letter = spelling.first, fileExtension == "rar" else { return nil }
        style = .oldVolumes(letter)
      }
    default: return nil
    }
    self.stem = stem
  }

  /// Returns the names of the file that has the view, if `name` is another volume. Examples: `a.zip` for `a.z01`,
  /// `a.rar` for `a.r00` and `a.z00`, `a.part1.rar` for `a.part2.rar`.
  static func leaders(of name: FileName) -> [FileName] {
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else { return [] }
    if name.fileExtension == "rar" || name.fileExtension == "cbr" {
      guard let digits = volumeDigits(before: dot, in: name) else { return [] }
      let first = Self.digits(1, digits.count)
      return digits == first[...] ? [] : [FileName(name.bytes[..<digits.startIndex] + first + name.bytes[dot...])]
    }
    let stem = name.bytes[...dot]
    var letters = name.bytes[(dot + 1)...]
    let digits = letters.suffix { (0x30...0x39).contains($0) }
    letters = letters.dropLast(digits.count)
    guard digits.count >= 2, let letter = letters.first, (0x72...0x7a).contains(letter | 0x20) else { return [] }
    let isUpper = letter & 0x20 == 0
    var extensions: [String] = []
    switch String(decoding: letters, as: UTF8.self).lowercased() {
    case "z": extensions = ["zip", "rar"]
    case "zx": extensions = ["zipx"]
    default: if letters.count == 1 { extensions = ["rar"] }
    }
    let spelled = isUpper ? extensions.flatMap { [$0.uppercased(), $0.capitalized] } : extensions
    return spelled.map { FileName(stem + Array($0.utf8)) }
  }

  /// Returns the digits of `.part01` before an extension. Returns `nil` if there are none.
  private static func volumeDigits(before dot: Int, in name: FileName) -> ArraySlice<UInt8>? {
    let before = name.bytes[..<dot]
    let digits = before.suffix(while: { (0x30...0x39).contains($0) })
    let isVolume = before.dropLast(digits.count).suffix(5).map { $0 | 0x20 } == Array(".part".utf8)
    return isVolume && (1...6).contains(digits.count) ? digits : nil
  }

  /// The name of another part, from 0. The first part is 01 or 001. The given part is the last, or else the first.
  subscript(index: Int) -> FileName {
    switch style {
    case .numberedZip(let letters): FileName(stem + letters + Self.digits(index + 1, 2))
    case .numbered: FileName(stem + Self.digits(index + 2, 3))
    case .volumes(let count, let end): FileName(stem + Self.digits(index + 2, count) + end)
    case .oldVolumes(let letter):
      FileName(stem + [letter &+ UInt8(clamping: min(index / 100, 8))] + Self.digits(index % 100, 2))
    }
  }

  private static func digits(_ number: Int, _ count: Int) -> [UInt8] {
    let digits = Array(String(number).utf8)
    return Array(repeating: 0x30, count: max(0, count - digits.count)) + digits
  }
}

extension String {
  fileprivate var capitalized: String { prefix(1).uppercased() + dropFirst() }
}

extension ArraySlice<UInt8> {
  fileprivate func suffix(while isWanted: (UInt8) -> Bool) -> ArraySlice<UInt8> {
    let end = lastIndex { !isWanted($0) }.map { $0 + 1 } ?? startIndex
    return self[end...]
  }
}
