import Catalogue
import Testing

@testable import Office

/// Sheets as CSV and as text.
@Suite struct SheetTests {
  static let workbook = MadeOffice.workbook(
    [
      (
        "Umsatz",
        """
        <row r="2"><c r="B2" t="s"><v>0</v></c><c r="D2" s="1"><v>45292</v></c></row><row r="3"><c r="A3">\
        <v>1234.5</v></c>\
        <c r="B3" s="2"><f>A3/2</f><v>0.256</v></c><c r="C3" t="b"><v>1</v></c><c r="D3" t="e"><v>#DIV/0!</v></c></row>\
        <row><c t="inlineStr"><is><t>in, "line"</t></is></c><c t="str"><v>a&#10;b</v></c><c s="3"><v>-7</v></c></row>
        """
      ), ("Empty", ""),
    ],
    styles: """
      <numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/><numFmt numFmtId="165" formatCode="0.00;(0.00)"/>\
      </numFmts>\
      <cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/>\
      <xf numFmtId="165"/></cellXfs>
      """,
    strings: "<si><r><t>sha</t></r><r><t>red_x0041_</t></r><rPh><t>no</t></rPh></si>")

  @Test func workbookSheetsAreReadAsCSV() throws {
    let rows = ",,,"
    let csv = "\(rows)\n,sharedA,,2024-01-01\n1234.5,26%,TRUE,#DIV/0!\n\"in, \"\"line\"\"\",\"a\nb\",(7.00),\n"
    // Before the widest row, as many columns as there have been.
    #expect(try MadeOffice.sheet(0, of: Self.workbook) == .text("\n" + csv.dropFirst(rows.count + 1)))
    #expect(try MadeOffice.sheet(1, of: Self.workbook) == .text(""))
    #expect(try MadeOffice.sheet(2, of: Self.workbook) == .failed(.absent, "has no such sheet"))
    #expect(
      try MadeOffice.text(of: Self.workbook)
        == .text("Umsatz\n\n\tsharedA\t\t2024-01-01\n1234.5\t26%\tTRUE\t#DIV/0!\nin, \"line\"\ta b\t(7.00)\n"))
  }

  /// A cell is quoted for a comma, a quote, and any line end: readers of CSV take a lone CR for one.
  @Test(arguments: [
    ("a&#13;b", "\"a\rb\""), ("&#13;", "\"\r\""), ("a&#13;&#10;b", "\"a\r\nb\""), ("a&#10;b", "\"a\nb\""),
    ("a,b", "\"a,b\""), ("a&quot;b", "\"a\"\"b\""), ("a;b\tc'", "a;b\tc'"),
  ])
  func cellsWithSeparatorsAreQuoted(cell: String, written: String) throws {
    let row = "<row r=\"1\"><c t=\"str\"><v>x</v></c><c t=\"str\"><v>\(cell)</v></c><c><v>1</v></c></row>"
    #expect(try MadeOffice.sheet(0, of: MadeOffice.workbook([("S", row)])) == .text("x,\(written),1\n"))
  }

  @Test func repeatedCellsOfSheetsAreExpanded() throws {
    let row =
      "<table:table-row table:number-rows-repeated=\"2\"><table:table-cell/><table:table-cell "
      + "table:number-columns-repeated=\"3\"><text:p>1,5 €</text:p></table:table-cell><table:table-cell "
      + "table:number-columns-repeated=\"16000\"/></table:table-row><table:table-row><table:table-cell "
      + "office:value-type=\"string\" office:string-value=\"not shown\"/><table:table-cell office:value=\"2\"/>"
      + "<table:table-cell office:value=\"0\"><text:p/></table:table-cell></table:table-row>"
    let tail = "<table:table-row table:number-rows-repeated=\"1048574\"><table:table-cell/></table:table-row>"
    let table = "<office:spreadsheet><table:table table:name=\"T\">\(row)\(tail)</table:table></office:spreadsheet>"
    let document = MadeOffice.openDocument("spreadsheet", table)
    let line = ",\"1,5 €\",\"1,5 €\",\"1,5 €\"\n"
    #expect(try MadeOffice.sheet(0, of: document) == .text(line + line + "not shown,2,,\n"))
    // A sheet ends after its last possible column.
    let wide =
      "<table:table-row><table:table-cell table:number-columns-repeated=\"16383\"><text:p>a</text:p></table:table-cell>"
      + "<table:table-cell table:number-columns-repeated=\"5\"><text:p>b</text:p></table:table-cell>"
      + "<table:table-cell><text:p>c</text:p></table:table-cell></table:table-row>"
    let sheet = "<office:spreadsheet><table:table table:name=\"T\">\(wide)</table:table></office:spreadsheet>"
    #expect(
      try MadeOffice.sheet(0, of: MadeOffice.openDocument("spreadsheet", sheet))
        == .text(String(repeating: "a,", count: 16383) + "b\n"))
    let bomb = table.replacing(
      "<table:table-cell/><table:table-cell table:number-columns-repeated=\"3\">",
      with: "<table:table-cell table:number-columns-repeated=\"16384\">"
    )
    .replacing("rows-repeated=\"2\"", with: "rows-repeated=\"1048576\"")
    guard case .failed(.limit, _) = try MadeOffice.sheet(0, of: MadeOffice.openDocument("spreadsheet", bomb)) else {
      Issue.record("so many cells were written")
      return
    }
  }
}
