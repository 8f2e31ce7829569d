import Bytes
import Mail
import Queries
import TestSupport
import Testing

@testable import MailViews
@testable import Tree

@Suite struct SearchQueryTests {
  private static func word(_ text: String, _ column: String? = nil, isStart: Bool = false) -> SearchQuery {
    .words(text.split(separator: " ").map(String.init), column: column, isStart: isStart)
  }

  static let queries: [(String, SearchQuery)] = [
    ("report", word("report")), ("  two\twords ", .all([word("two"), word("words")])),
    ("\"in a row\"", word("in a row")), ("“in a row”", word("in a row")), ("pre*", word("pre", isStart: true)),
    ("\"pre*\"", word("pre")), ("a b OR c", .any([.all([word("a"), word("b")]), word("c")])),
    ("a (b OR c)", .all([word("a"), .any([word("b"), word("c")])])), ("a AND b", .all([word("a"), word("b")])),
    ("or and", .all([word("or"), word("and")])), ("-spam", .not(word("spam"))),
    ("a -(b c)", .all([word("a"), .not(.all([word("b"), word("c")]))])), ("-\"a b\"", .not(word("a b"))),
    ("from:anna@example.com", word("anna example com", "sender")), ("TO:Bob", word("bob", "recipients")),
    ("subject:\"q3 numbers\"", word("q3 numbers", "subject")), ("filename:scan*", word("scan", "files", isStart: true)),
    ("has:attachment", .hasAttachment), ("label:Work", .label("Work")),
    ("label:\"Work/Project A\"", .label("Work/Project A")),
    ("after:2024-01-01", .since(day: 19_723)), ("after:2024", .since(day: 19_723)),
    ("before:1970-02", .before(day: 31)),
    ("larger:5M", .larger(than: 5 << 20)), ("larger:10kb", .larger(than: 10 << 10)), ("smaller:7", .smaller(than: 7)),
    ("well-known", word("well known")), ("e-mail -x", .all([word("e mail"), .not(word("x"))])),
    ("12:30", word("12 30")), ("http://a.b", word("http a b")), ("会議の", word("会議 議の")), ("会", word("会", isStart: true)),
    ("NOT spam", .not(word("spam"))), ("a NOT (b c)", .all([word("a"), .not(.all([word("b"), word("c")]))])),
    ("from:(anna OR bob)", .any([word("anna", "sender"), word("bob", "sender")])),
    ("from:(anna -to:bob) c", .all([.all([word("anna", "sender"), .not(word("bob", "recipients"))]), word("c")])),
    ("cc:a", word("a", "recipients")), ("bcc:a", word("a", "recipients")), ("is:deleted", .isDeleted),
    ("date:2024", .all([.since(day: 19_723), .before(day: 20_089)])),
    ("date:2023-12", .all([.since(day: 19_692), .before(day: 19_723)])),
    ("date:2024-01-01", .all([.since(day: 19_723), .before(day: 19_724)])),
    (
      "~underrun",
      .any(["underrun", "underruns", "underruned", "underruning", "underrunned", "underrunning"].map { word($0) })
    ),
    ("subject:~x", word("x", "subject")), ("Re: a", .all([word("re"), word("a")])), ("\"list:a\"", word("list a")),
    ("a会議b", word("a 会議 議 b")), ("subject:資料", word("資料", "subject")),
  ]

  @Test(arguments: queries) func searchQueriesAreParsed(_ text: String, _ query: SearchQuery) throws {
    #expect(try SearchQuery(text) == query)
  }

  static let documentQueries: [(String, SearchQuery)] = [
    ("kind:Mail", .kind("mail")), ("type:PDF", .kind("pdf")),
    ("lang:de", LanguageTag("de").map { .language($0) } ?? .hasAttachment),
    ("lang:ger", LanguageTag("de").map { .language($0) } ?? .hasAttachment),
    ("lang:pt_BR", LanguageTag("pt-br").map { .language($0) } ?? .hasAttachment), ("ext:.Docx", .fileExtension("docx")),
    ("in:a/b/", .folder("a/b")), ("in:\"/with space\"", .folder("with space")), ("name:bill", word("bill", "name")),
    ("from:anna", word("anna", "sender")), ("subject:x", .all([.kind("mail"), word("x", "title")])),
    ("size:>1M", .larger(than: 1 << 20)), ("size:<=10k", .smaller(than: (10 << 10) + 1)),
    ("size:1k..2k", .all([.larger(than: 1023), .smaller(than: 2049)])), ("size:..5", .all([.smaller(than: 6)])),
    ("date:2023-12..2024", .all([.since(day: 19_692), .before(day: 20_089)])),
    ("date:2024..", .all([.since(day: 19_723)])), ("sort:date", .order(.date)),
    ("near(a \"b c\")", .near([["a"], ["b", "c"]], distance: 10)), ("near(3 a b)", .near([["a"], ["b"]], distance: 3)),
    ("near(2024 a)", .near([["2024"], ["a"]], distance: 10)), ("label:x", .label("x")), ("is:Deleted", .isDeleted),
    ("near(\"2024\" a b)", .near([["2024"], ["a"], ["b"]], distance: 10)),
    ("/a\\/b\\d/ x", .all([.expression("a/b\\d", column: nil), word("x")])),
    ("near a", .all([word("near"), word("a")])),
    ("a/b", word("a b")), ("NAME:/a b\\// x", .all([.expression("a b/", column: "name"), word("x")])),
    ("-from:(/a/)", .not(.expression("a", column: "sender"))),
    ("name:/usr/bin", .words(["usr", "bin"], column: "name", isStart: false)),
    ("subject:/a/", .all([.kind("mail"), .expression("a", column: "title")])), ("in:/a/", .folder("a")),
    ("date:2024..2024", .all([.since(day: 19_723), .before(day: 20_089)])),
    ("size:5..5", .all([.larger(than: 4), .smaller(than: 6)])),
  ]

  @Test(arguments: documentQueries) func documentQueriesAreParsed(_ text: String, _ query: SearchQuery) throws {
    #expect(try SearchQuery(text, .documents) == query)
  }

  @Test(arguments: [
    ("near(a)", "two words"), ("near()", "two words"), ("near(a (b))", "only words"), ("/open", "closed"),
    ("//", "nothing"),
    ("date:2021..2019", "earlier date first"), ("size:2k..1k", "smaller size first"),
    ("to:(/a/)", "no regular expression"),
    ("sort:size", "sort:date"), ("size:big", "size"), ("date:..", "date"), ("list:x", "'list:' is not a prefix"),
    ("near(1000 a b)", "at most 999"), ("near(99999999999999999999999999 a b)", "at most 999"),
    ("is:odd", "is:deleted"), ("near(a b*)", "whole words"), ("kind:", "after 'kind:'"),
    ("lang:und", "code of a language"),
    ("lang:\"a b\"", "code of a language"), ("lang:x", "code of a language"),
  ]) func documentQueryMistakesAreExplained(_ text: String, _ reason: String) {
    #expect { try SearchQuery(text, .documents) } throws: { error in
      (error as? SearchQuery.ParseError)?.reason.contains(reason) ?? false
    }
    // A query for mail has none of these.
    #expect(throws: SearchQuery.ParseError.self) { try SearchQuery("kind:mail") }
  }

  static let mistakes = [
    ("", "empty"), ("   ", "empty"), ("\"open", "quotation"), ("(a", "without its ')'"), ("a)", "without its '('"),
    ("()", "nothing"), ("OR", "OR"), ("a OR", "OR"), ("OR a", "OR"), ("a OR OR b", "OR"), ("-", "after a '-'"),
    ("a - -", "after a"), ("from:", "after 'from:'"), ("from: anna", "after 'from:'"), ("has:wings", "has:attachment"),
    ("after:soon", "date"), ("after:2024-13-01", "date"), ("before:2023-02-29", "date"), ("after:2024-1-1-1", "date"),
    ("larger:big", "size"), ("larger:M", "size"), ("larger:99999999999", "size"), ("!!!", "no word"), ("*", "no word"),
    ("from:@", "no word"), (String(repeating: "a ", count: 300), "more than"),
    ("\"" + String(repeating: "word ", count: 5000) + "\"", "more than 4096 bytes"),
    ("list:a", "'list:' is not a prefix (use one of after: bcc: before:"), ("ID:<a@b>", "'id:' is not a prefix"),
    ("*a", "at the end of a word"), ("a*b", "at the end of a word"), ("~a-b", "one whole word"),
    ("~a*", "one whole word"),
    ("NOT", "after a '-' or NOT"), ("is:odd", "is:deleted"), ("date:soon", "date"), ("from:(a", "without its ')'"),
    ("from:()", "nothing"),
    (String(repeating: "(", count: 5000), "more than"), ("AND a", "AND"),
  ]

  @Test(arguments: mistakes) func invalidSearchQueriesAreExplained(_ text: String, _ reason: String) {
    let error = #expect(throws: SearchQuery.ParseError.self) { try SearchQuery(text) }
    #expect(error?.reason.contains(reason) ?? false, "\(error?.reason ?? "")")
  }

  /// Each form matches all the others.
  @Test(arguments: [
    ["underrun", "underruns"], ["run", "runs", "running"], ["use", "uses", "used", "using"],
    ["party", "parties"], ["reply", "replies", "replied", "replying"], ["box", "boxes"],
    ["report", "reported", "reporting"],
    ["class", "classes"], ["pass", "passed", "passing"], ["call", "called", "calling"], ["day", "days"],
  ]) func inflectedFormsMatchEachOther(_ forms: [String]) {
    for form in forms {
      for other in forms { #expect(InflectedWord.forms(of: form).contains(other), "\(other) of \(form)") }
    }
    #expect(InflectedWord.forms(of: "Übung") == ["übung"])
  }

  /// Any folder name is a query or gives an error, and FTS5 never gets an invalid expression.
  @Test func anyQueryTextIsParsedOrRefused() {
    var numbers = SeededNumbers(seed: 11)
    let pieces = [
      "a", "会", "\"", "(", ")", "-", "*", " ", "OR", "AND", "from:", "has:", "label:", "NEAR", "^", "{", "}", ":", "+",
      "after:2024", "\u{0}", "'", "ü", "subject:", "\u{301}",
    ]
    var read = 0
    for _ in 0..<5000 {
      let text = (0..<8).map { _ in pieces[Int(numbers.next() % UInt64(pieces.count))] }.joined()
      guard let query = try? SearchQuery(text) else { continue }
      read += 1
      for case .words(let words, _, _) in [query] { #expect(!words.isEmpty && words.allSatisfy { !$0.contains("\"") }) }
    }
    #expect(read > 100)
  }

  @Test func positionSetOperationsAreCorrect() {
    let limit = 130
    let even = PositionSet(below: limit) { $0 % 2 == 0 }
    var some = PositionSet(below: limit, [0, 1, 63, 64, 128, 129, 130, 5000])
    #expect(some.positions == [0, 1, 63, 64, 128, 129])
    #expect(some.inverted.positions.count == limit - 6)
    #expect(some.inverted.inverted == some)
    some.formIntersection(even)
    #expect(some.positions == [0, 64, 128])
    some.formUnion(PositionSet(below: limit, [1]))
    #expect(some.positions == [0, 1, 64, 128])
    #expect(some.contains(64) && !some.contains(63) && !some.contains(-1) && !some.contains(1 << 40))
    #expect(PositionSet(below: 0).inverted.positions == [])
  }

  @Test func messageFactsRoundTrip() {
    var facts = MessageFacts()
    var row = MessageRow(separator: 0, start: 0, end: 5 << 32)
    facts.add(row)
    row.date = -1
    row.zone = 60
    row.end = 77
    facts.add(row)
    #expect(facts.days == [.min, 0] && facts.size(0) == .max && facts.size(1) == 77)
    #expect(MessageFacts(packed: facts.packed, messages: 2) == facts)
    #expect(MessageFacts(packed: facts.packed, messages: 1) == nil)
  }
}
