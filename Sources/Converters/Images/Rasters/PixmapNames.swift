internal import WorkerKit

/// The colours of an XPM that have X11's names of grays, `gray0` to `gray100`. libavcodec decodes them as black.
enum PixmapNames {
  /// Returns the file with numbers instead of those names.
  static func numbered(_ input: JobInput) -> [UInt8] {
    let bytes = unsafe Array(input.bytes)
    var file: [UInt8] = []
    file.reserveCapacity(bytes.count)
    var rest = bytes[...]
    // The first string has the number of colours; the second is the first colour.
    var (index, colours) = (0, 1)
    while index <= colours, let start = rest.firstIndex(of: 0x22), let end = rest[(start + 1)...].firstIndex(of: 0x22) {
      let text = rest[(start + 1)..<end]
      file += rest[...start]
      if index == 0 {
        let numbers = String(decoding: text, as: UTF8.self).split { $0 == " " || $0 == "\t" }
        colours = numbers.count > 2 ? min(Int(numbers[2]) ?? 0, 1 << 24) : 0
        file += text
      } else {
        file += numbered(text)
      }
      file.append(0x22)
      rest = rest[(end + 1)...]
      index += 1
    }
    return file + rest
  }

  /// Returns a colour with a number instead of its name. It has the colour's characters, which may be spaces, followed
  /// by pairs of words.
  private static func numbered(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard let space = text.lastIndex(where: { $0 == 0x20 || $0 == 0x09 }) else { return Array(text) }
    let word = String(decoding: text[(space + 1)...], as: UTF8.self).lowercased()
    guard word.hasPrefix("gray") || word.hasPrefix("grey"), let percent = Int(word.dropFirst(4)),
      (0...100).contains(percent)
    else { return Array(text) }
    let value = (percent * 255 + 50) / 100
    let digits = (value < 16 ? "0" : "") + String(value, radix: 16)
    return text[...space] + Array("#\(digits)\(digits)\(digits)".utf8)
  }
}
