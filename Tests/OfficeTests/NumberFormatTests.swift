import Testing

@testable import Office

/// Numbers, dates and texts as cells show them: what LibreOffice and Excel show for the same codes.
@Suite struct NumberFormatTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let code: String
    let value: Double
    let shown: String

    init(_ code: String, _ value: Double, _ shown: String) {
      (self.code, self.value, self.shown) = (code, value, shown)
    }

    var testDescription: String { "\(value) as \(code)" }
  }

  static let cases = [
    Case("General", 0.1 + 0.2, "0.3"), Case("General", -12, "-12"), Case("General", 123_456_789_012, "123456789012"),
    Case("General", 1.5e20, "1.5E+20"), Case("General", 0, "0"), Case("General", 1e-12, "1E-12"),
    Case("0", 2.5, "3"), Case("0.00", 2.675, "2.68"), Case("0.00", -0.004, "0.00"),
    Case("#,##0", 1_234_567, "1,234,567"),
    Case("#,##0.00", -1234.5, "-1,234.50"), Case("#,##0.00;[Red](#,##0.00)", -1234.5, "(1,234.50)"),
    Case("0%", 0.256, "26%"), Case("0.0%", 0.2565, "25.7%"), Case("#,##0.00 \"€\"", 9.5, "9.50 €"),
    Case("[$€-407] #,##0.00", 1e6, "€ 1,000,000.00"), Case("0.00E+00", 12345, "1.23E+04"),
    Case("##0.0E+0", 12345, "12.3E+3"), Case("000-00-0000", 123_456_789, "123-45-6789"), Case("0.##", 1.5, "1.5"),
    Case("0.##", 3, "3."), Case("#", 0, ""), Case("?0.0?", 1.5, " 1.5 "), Case("#,##0,", 1_234_567, "1,235"),
    Case("0.0,,\"M\"", 12_345_678, "12.3M"), Case("# ?/?", 1.25, "1 1/4"), Case("# ??/??", 0.3333, "1/3"),
    Case("0;-0;\"none\"", 0, "none"), Case("[>=100]\"many\";[<0]\"less\";0", 5, "5"),
    Case("[>=100]\"many\";[<0]\"less\";0", 500, "many"), Case("00000", 42, "00042"),
    Case("yyyy-mm-dd", 45292, "2024-01-01"), Case("d.m.yy", 60, "29.2.00"), Case("dd/mm/yyyy", 1, "01/01/1900"),
    Case("dddd, mmmm d, yyyy", 45351, "Thursday, February 29, 2024"), Case("mmm-yy", 45351, "Feb-24"),
    Case("h:mm AM/PM", 0.75, "6:00 PM"), Case("h:mm AM/PM", 0, "12:00 AM"), Case("hh:mm AM/PM", 0.5, "12:00 PM"),
    Case("hh:mm:ss", 0.999_988_425_93, "23:59:59"),
    Case("mm:ss.0", 0.000_02, "00:01.7"),
    Case("[h]:mm", 1.5, "36:00"), Case("[mm]:ss", 0.125, "180:00"), Case("m/d/yyyy h:mm", 45292.5, "1/1/2024 12:00"),
    Case("yyyy-mm-dd hh:mm:ss", 45291.999_999_99, "2024-01-01 00:00:00"), Case("yyyy", -1, "-1"),
  ]

  @Test(arguments: cases) func numberFormatsAreApplied(_ example: Case) {
    #expect(NumberFormat(example.code).text(example.value, isSince1904: false) == example.shown)
  }

  @Test func textFormatsAndEpochAreApplied() {
    #expect(NumberFormat("0.00;-0.00;0;\"<\"@\">\"").text("x") == "<x>")
    #expect(NumberFormat("0.00").text("x") == "x")
    #expect(NumberFormat("yyyy-mm-dd").text(0, isSince1904: true) == "1904-01-01")
  }

  @Test func consecutiveDaysAreFormattedInOrder() {
    var last = ""
    for serial in stride(from: 61.0, to: 15_000, by: 1) {
      let day = NumberFormat("yyyymmdd").text(serial, isSince1904: false)
      guard day > last, day.count == 8 else {
        Issue.record("\(serial) is \(day), after \(last)")
        return
      }
      last = day
    }
    #expect(last == "19410123")
  }

  @Test func malformedNumberFormatsAreAccepted() {
    for code in ["", ";;;;", "[", "\"", "\\", "E+", "0E+", "/", "?/?", "[h", "0.0.0", "[$", ",,,", "A/P", "@@", "*"] {
      for value in [0, -1, 1e308, .leastNonzeroMagnitude, 45000.5, .infinity] {
        _ = NumberFormat(code).text(value, isSince1904: false)
      }
    }
  }
}
