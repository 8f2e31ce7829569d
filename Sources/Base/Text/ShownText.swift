/// Makes text safe for a terminal.
public enum ShownText {
  /// Returns a control character's picture, such as `␛` for Escape.
  public static func picture(of control: UInt8) -> [UInt8] {
    [0xe2, 0x90, control == 0x7f ? 0xa1 : 0x80 + (control & 0x1f)]
  }

  private static let lineEnd: [UInt8] = Array("↵".utf8)
  /// The replacement of C1 control characters, which some terminals interpret.
  public static let replacement: [UInt8] = [0xef, 0xbf, 0xbd]

  /// Returns text in one line. Line ends become `↵`, tabs become blanks, and other control characters become their
  /// pictures.
  public static func line(_ text: [UInt8]) -> [UInt8] {
    if text.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && $0 != 0xc2 }) { return text }
    var shown: [UInt8] = []
    shown.reserveCapacity(text.count + 16)
    var index = 0
    while index < text.count {
      let byte = text[index]
      index += 1
      switch byte {
      case 0x09: shown.append(0x20)
      case 0x0a: shown += lineEnd
      case 0x0d:
        shown += lineEnd
        if index < text.count, text[index] == 0x0a { index += 1 }
      case ..<0x20, 0x7f: shown += picture(of: byte)
      case 0xc2 where index < text.count && text[index] < 0xa0:
        shown += replacement
        index += 1
      default: shown.append(byte)
      }
    }
    return shown
  }
}
