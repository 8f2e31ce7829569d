internal import Text

extension CodePage {
  /// Returns the usual code page of a language by its locale's number. Western European for most.
  static func page(ofLocale locale: Int) -> Int {
    switch locale & 0x3ff {
    case 0x01, 0x20, 0x29: 1256
    case 0x04: locale == 0x804 || locale == 0x1004 ? 936 : 950
    case 0x05, 0x0e, 0x15, 0x18, 0x1b, 0x1c, 0x24: 1250
    case 0x1a: locale == 0xc1a ? 1251 : 1250
    case 0x02, 0x19, 0x22, 0x23, 0x2f: 1251
    case 0x08: 1253
    case 0x0d: 1255
    case 0x11: 932
    case 0x12: 949
    case 0x1e: 874
    case 0x1f: 1254
    case 0x25, 0x26, 0x27: 1257
    case 0x2a: 1258
    default: 1252
    }
  }
}
