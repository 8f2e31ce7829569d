import Glibc
import Testing

/// A table as stored in a file, and as lines of text.
struct TableFixture: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let bytes: [UInt8]
  let text: String
  var delimiter = UInt8(ascii: ",")

  init(_ description: String, _ table: String, _ text: String, delimiter: UInt8 = UInt8(ascii: ",")) {
    self.init(description, Array(table.utf8), text, delimiter: delimiter)
  }

  init(_ description: String, _ bytes: [UInt8], _ text: String, delimiter: UInt8 = UInt8(ascii: ",")) {
    testDescription = description
    self.bytes = bytes
    self.text = text
    self.delimiter = delimiter
  }

  private static let western = "name;größe\nÄpfel;3,5\nBirnen;1.234,0\n"
  private static let westernText = "name      größe\n------  -------\nÄpfel       3,5\nBirnen  1.234,0\n"

  private static func utf16(_ text: String, _ order: (UInt16) -> [UInt8], mark: Bool) -> [UInt8] {
    ((mark ? [0xfeff] : []) + Array(text.utf16)).flatMap(order)
  }
  private static func little(_ unit: UInt16) -> [UInt8] { [UInt8(unit & 0xff), UInt8(unit >> 8)] }
  private static func big(_ unit: UInt16) -> [UInt8] { [UInt8(unit >> 8), UInt8(unit & 0xff)] }

  /// A text converted by iconv(3).
  private static func table(in charset: String, _ text: String) -> [UInt8] {
    guard let converter = unsafe iconv_open(charset, "UTF-8") else { return [] }
    defer { _ = unsafe iconv_close(converter) }
    var input = text.utf8.map { CChar(bitPattern: $0) }
    var output = [CChar](repeating: 0, count: 4 * input.count)
    let count = unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        var from = input.baseAddress
        var to = output.baseAddress
        var left = input.count
        var room = output.count
        _ = unsafe iconv(converter, &from, &left, &to, &room)
        return output.count - room
      }
    }
    return output[..<count].map { UInt8(bitPattern: $0) }
  }

  static let all = [
    // RFC 4180 §2, in order.
    TableFixture("lines by CRLF", "aaa,bbb\r\nzzz,yyy\r\n", "aaa  bbb\n---  ---\nzzz  yyy\n"),
    TableFixture("no last line end", "aaa,bbb\r\nzzz,yyy", "aaa  bbb\n---  ---\nzzz  yyy\n"),
    TableFixture("spaces belong to cells", "a, b ,c\nx x,y, z\n", "a     b   c\n---  ---  --\nx x  y     z\n"),
    TableFixture("quoted or not", "\"aaa\",\"bbb\"\r\nzzz,\"yyy\"", "aaa  bbb\n---  ---\nzzz  yyy\n"),
    TableFixture("delimiters and line ends in quotes", "a,b\n\"b\r\nbb\",\"x,y\"\n", "a     b\n----  ---\nb↵bb  x,y\n"),
    TableFixture("quotes in quotes", "a,b\n\"b\"\"bb\",c\n", "a     b\n----  -\nb\"bb  c\n"),
    // Other variants.
    TableFixture("lines by CR", "a,b\rc,d\r", "a  b\n-  -\nc  d\n"),
    TableFixture("an empty quoted cell", "a,b\n\"\",c\n", "a  b\n-  -\n   c\n"),
    TableFixture("text behind a quoted cell", "a,b\n\"x\"y,z\n", "a   b\n--  -\nxy  z\n"),
    // As read by Python's csv module.
    TableFixture(
      "blanks and text behind a quoted cell", "a,b\n\"x\" y,1\n\"5\"\" pipe\" long,2\n\"x\"  \"y\",3\n",
      "a             b\n------------  -\nx y           1\n5\" pipe long  2\nx  \"y\"        3\n"),
    TableFixture(
      "blanks behind quoted cells only", "a,b,\"c\" \n\"x\"  ,\"y\" \r\n\"z\" ",
      "a  b  c\n-  -  -\nx  y\nz\n"),
    TableFixture("a quote within a cell is one", "a,b\nx\"y,z\n", "a    b\n---  -\nx\"y  z\n"),
    TableFixture("blanks before a quote", "a,b\nx, \"y,z\" \nu,v\n", "a  b\n-  ---\nx  y,z\nu  v\n"),
    TableFixture("ragged rows", "a,b\n1\n1,2,3\n\n4,5\n", "a  b\n-  -  -\n1\n1  2  3\n\n4  5\n"),
    TableFixture("semicolons", "a;b\n1;2,5\n3;4,5\n", "a    b\n-  ---\n1  2,5\n3  4,5\n"),
    TableFixture(
      "quotes around some cells of rows of all lengths, and tabs in a file that is not named so",
      "\"\"\"q\"\"\"\t2024\t\"a\tb\"\r\n-3\t\"\"\"q\"\"\"\r\n-3\ta\t\"\"\"q\"\"\"\tx\r\n",
      "\"q\"  2024  a b\n---  ----  ---  -\n -3  \"q\"\n -3  a     \"q\"  x\n"),
    TableFixture(
      "Cyrillic in Windows-1251", table(in: "CP1251", "имя;город\nИван;Москва\nОльга;Тверь\n"),
      "имя    город\n-----  ------\nИван   Москва\nОльга  Тверь\n"),
    TableFixture(
      "Japanese in Shift_JIS", table(in: "CP932", "名前,住所\n表,東京都\n能,大阪府ソ\n"),
      "名前  住所\n----  --------\n表    東京都\n能    大阪府ソ\n"),
    TableFixture(
      "Chinese in GBK", table(in: "GB18030", "姓名,地址\n张三,北京市\n李四,上海市\n"),
      "姓名  地址\n----  ------\n张三  北京市\n李四  上海市\n"),
    TableFixture("tabs", "a\tb\nx, y\tz\n", "a     b\n----  -\nx, y  z\n", delimiter: 9),
    TableFixture("tabs by name, commas by content", "a,b\nc,d\n", "a  b\n-  -\nc  d\n", delimiter: 9),
    TableFixture(
      "tabs by name, and as many commas",
      "City, State, Country\tPop\nBerlin, BE, Germany\t3700000\nParis, IDF, France\t2100000\n",
      "City, State, Country      Pop\n--------------------  -------\nBerlin, BE, Germany   3700000\n"
        + "Paris, IDF, France    2100000\n",
      delimiter: 9),
    TableFixture(
      "one column with semicolons", "name\nSmith; John\nDoe; Jane\n",
      "name\n-----------\nSmith; John\nDoe; Jane\n"),
    TableFixture(
      "one column with commas", "name\nSmith, John\nDoe, Jane\n",
      "name\n-----------\nSmith, John\nDoe, Jane\n", delimiter: 9),
    TableFixture(
      "semicolons below a title", "Sales\n\nk;v\na;1\nb;2\n", "Sales\n-----  -\n\nk      v\na      1\nb      2\n"),
    TableFixture(
      "three columns right below a title", "Sales\nk;v;w\na;1;2\nb;2;3\n",
      "Sales\n-----  -  -\nk      v  w\na      1  2\nb      2  3\n"),
    TableFixture(
      "commas by name, semicolons by content", "k;a, b;n;v\nx;1,5;2;3\ny;2,5;3;4\n",
      "k  a, b  n  v\n-  ----  -  -\nx   1,5  2  3\ny   2,5  3  4\n"),
    TableFixture("bars", "a|b\nx,y|z\n", "a    b\n---  -\nx,y  z\n"),
    TableFixture("Excel's first line", "sep=;\r\na;b\r\n1;2\r\n", "a  b\n-  -\n1  2\n"),
    TableFixture(
      "a quote that opens nothing", "a\tb\n5\t\"inch\n6\t7\n8\t9\n", "a  b\n-  -----\n5  \"inch\n6  7\n8  9\n",
      delimiter: 9),
    TableFixture("one column", "a\nb\n", "a\n-\nb\n"),
    TableFixture(
      "numbers to the right", "k,n\na,1\nb,20.5\nc,\nd,-3e5\n", "k     n\n-  ----\na     1\nb  20.5\nc\nd  -3e5\n"),
    TableFixture(
      "keys and dates to the left", "k,d\n007,2024-05-01\n0100,x\n",
      "k     d\n----  ----------\n007   2024-05-01\n0100  x\n"),
    TableFixture(
      "wide characters, combined ones, flags", "a,b\n京都,x\ne\u{301}a,y\n🇫🇷,z\n👩‍👩‍👧,u\n",
      "a     b\n----  -\n京都  x\ne\u{301}a    y\n🇫🇷    z\n👩‍👩‍👧    u\n"),
    TableFixture(
      "what would command a terminal", "a,b\n\u{1b}[31m,\u{7}\u{85}\n", "a      b\n-----  --\n␛[31m  ␇\u{fffd}\n"),
    TableFixture("a byte order mark", "\u{feff}a,b\nc,d\n", "a  b\n-  -\nc  d\n"),
    TableFixture("Latin-1", western.unicodeScalars.map { UInt8($0.value) }, westernText),
    TableFixture("Windows-1252", Array("a,b\n".utf8) + [0x80, 0x2c, 0x93, 0x94, 0x0a], "a  b\n-  --\n€  “”\n"),
    TableFixture("UTF-16, little, marked", utf16(western, little, mark: true), westernText),
    TableFixture("UTF-16, big, marked", utf16(western, big, mark: true), westernText),
    TableFixture("UTF-16, little", utf16(western, little, mark: false), westernText),
    TableFixture("UTF-16, big", utf16(western, big, mark: false), westernText),
    TableFixture("a NUL", "a,b\n1\0,2\n", "a   b\n--  -\n1␀  2\n"),
    TableFixture("NULs in like places", "a,b\n1,\0\n2,\0\n", "a  b\n-  -\n1  ␀\n2  ␀\n"),
    TableFixture(
      "bytes that are no UTF-8", Array("a,é\nb,".utf8) + [0xff, 0xe2, 0x82, 0x0a], "a  é\n-  --\nb  \u{fffd}\u{fffd}\n"),
    TableFixture("nothing", "", ""),
    TableFixture(
      "a quote that is never closed", "a,b\n\(String(repeating: "x,y\n", count: 20))c,\"d\ne",
      "a  b\n-  ---\n\(String(repeating: "x  y\n", count: 20))c  d↵e\n"),
  ]
}
