internal import Catalogue
internal import Recognition
internal import WorkerKit

/// The result of a job on one page: its recognized text.
struct PageRecord {
  /// The mean confidence of the page in a photo, which was straightened, and of the whole photo.
  struct Certainty {
    let page: Double
    let whole: Double
  }

  let page: RecognizedPage
  let straightened: Certainty?

  private static let mark = "straightened"

  init(_ page: RecognizedPage, _ straightened: Certainty?) { (self.page, self.straightened) = (page, straightened) }

  var text: String {
    let first = straightened.map { "\(Self.mark) \($0.page) \($0.whole)\n" } ?? ""
    return first + page.record
  }

  /// Parses the text of a record. Returns nil if it is not one.
  init?(_ text: String) {
    var rest = text[...]
    var certainty: Certainty?
    if text.hasPrefix(Self.mark), let end = text.firstIndex(of: "\n") {
      let numbers = text[..<end].split(separator: " ").dropFirst().compactMap { Double($0) }
      guard numbers.count == 2, numbers.allSatisfy({ (0...100).contains($0) }) else { return nil }
      certainty = Certainty(page: numbers[0], whole: numbers[1])
      rest = text[text.index(after: end)...]
    }
    guard let page = RecognizedPage(record: String(rest)) else { return nil }
    self.init(page, certainty)
  }
}

/// A document with the texts that its pages have, and those that have been recognized by jobs of their own.
struct ReadInput {
  let document: JobInput
  /// The texts of pages. Nil if they are not known.
  let texts: PageTexts?
  /// The records by number, from 0.
  let pages: [Int: PageRecord]

  init(_ order: JobOrder) throws(JobFailure) {
    guard let members = try? order.members(), let first = members.first else {
      (document, texts, pages) = (try order.input(), nil, [:])
      return
    }
    document = try order.input(from: first.start, size: first.size)
    var pages: [Int: PageRecord] = [:]
    var texts: PageTexts?
    for (index, member) in members.enumerated().dropFirst() where member.size > 0 {
      let input = try order.input(from: member.start, size: member.size)
      if index == 1 {
        texts = unsafe PageTexts(Array(input.bytes))
      } else if let number = Int(member.name), number > 0 {
        pages[number - 1] = unsafe PageRecord(String(decoding: input.bytes, as: UTF8.self))
      }
      withExtendedLifetime(input) {}
    }
    (self.texts, self.pages) = (texts, pages)
  }
}
