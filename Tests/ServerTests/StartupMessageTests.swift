import Testing

@testable import ffserve

@Suite struct StartupMessageTests {
  /// The modules of a drawn code, without its margin.
  private func modules(_ code: String) throws -> [[Bool]] {
    var rows: [[Bool]] = []
    for line in code.split(separator: "\n") {
      let start = try #require(line.firstRange(of: "m"))
      let drawn = line[start.upperBound...].prefix { $0 != "\u{1b}" }
      rows.append(drawn.map { $0 == "█" || $0 == "▀" })
      rows.append(drawn.map { $0 == "█" || $0 == "▄" })
    }
    let width = try #require(rows.first?.count)
    #expect(rows.allSatisfy { $0.count == width } && rows.prefix(2).joined().allSatisfy { !$0 })
    return rows.dropFirst(2).prefix(width - 4).map { Array($0.dropFirst(2).dropLast(2)) }
  }

  /// The description of the code's form, in both of its places (ISO/IEC 18004, 7.9), tells that rows are rows. A reader
  /// of a mirrored or inverted one may not find it.
  @Test(arguments: [
    "http://192.168.0.1:4200/", "https://[2001:db8::1]:4200/?token=" + String(repeating: "0aF-", count: 12),
  ])
  func codeIsDrawnUpright(_ text: String) throws {
    let code = try modules(#require(StartupMessage.code(text)))
    let size = code.count
    #expect(code.allSatisfy { $0.count == size } && size % 4 == 1 && size >= 21)
    // Three corners have a square.
    for (row, column) in [(0, 0), (0, size - 7), (size - 7, 0)] {
      for step in 0..<7 {
        #expect(code[row][column + step] && code[row + 6][column + step] && code[row + step][column])
      }
      #expect(code[row + 3][column + 3] && !code[row + 1][column + 1])
    }
    let first =
      (0...5).map { code[8][$0] } + [code[8][7], code[8][8], code[7][8]] + (0...5).reversed().map { code[$0][8] }
    let second = (0...6).map { code[size - 1 - $0][8] } + (0...7).map { code[8][size - 8 + $0] }
    for bits in [first, second] {
      let value = bits.reduce(0) { $0 << 1 | ($1 ? 1 : 0) } ^ 0x5412
      var rest = value
      for shift in (0...4).reversed() where rest >> (shift + 10) & 1 != 0 { rest ^= 0x537 << shift }
      // The lowest level of correction.
      #expect(rest == 0 && value >> 13 == 1, "\(bits)")
    }
  }
}
