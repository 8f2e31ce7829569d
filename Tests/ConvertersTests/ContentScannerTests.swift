import Testing

@testable import Documents

/// The operators of a content stream that place images.
@Suite struct ContentScannerTests {
  private func steps(_ text: String) -> [ContentScanner.Step] {
    var scanner = ContentScanner(Array(text.utf8))
    var steps: [ContentScanner.Step] = []
    while let step = scanner.next() { steps.append(step) }
    return steps
  }

  @Test(
    arguments: [
      ("q Q", [.save, .restore]), ("q\nQ\tq", [.save, .restore, .save]), ("/Im0 Do", [.paint("/Im0")]),
      ("/G gs", [.state("/G")]),
      ("1 0 0 -2.5 3 4 cm", [.transform(Matrix(a: 1, b: 0, c: 0, d: -2.5))]),
      ("9 1 2 3 4 5 6 cm", []), ("1 2 3 4 5 cm", []),
      (".5 -.25 +1 10 0 0 cm", [.transform(Matrix(a: 0.5, b: -0.25, c: 1, d: 10))]),
      ("/A /B Do", [.paint("/B")]), ("Do gs", []), ("/A BT Do", []), ("(q /A Do) Tj Q", [.restore]),
      ("% q\nQ", [.restore]),
      ("(a(b)\\)q) q", [.save]), ("<71> q", [.save]), ("<</A/B>>BDC q", [.save]), ("[(q) 1] TJ q", [.save]),
      ("q1 Qq", []), ("/A#20B Do", [.paint("/A B")]),
      ("BI /W 1 ID q EI\nQ", [.restore]), ("q BI ID \u{1}\u{2}qQ EI Q", [.save, .restore]),
    ] as [(String, [ContentScanner.Step])])
  func operatorsAreRead(_ text: String, _ wanted: [ContentScanner.Step]) { #expect(steps(text) == wanted) }

  @Test func matricesAreApplied() {
    let (move, turn) = (Matrix(a: 2, b: 0, c: 0, d: 3), Matrix(a: 0, b: 1, c: -1, d: 0))
    #expect(move.then(turn) == Matrix(a: 0, b: 2, c: -3, d: 0) && turn.then(move) == Matrix(a: 0, b: 3, c: -2, d: 0))
    let extent = Matrix(a: 3, b: 4, c: -5, d: 12).extent
    #expect(
      extent?.width == 5 && extent?.height == 13 && Matrix(a: .infinity).extent == nil && Matrix(d: .nan).extent == nil)
  }
}
