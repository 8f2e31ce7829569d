/// Some pages of a document, in the requested order: `7`, `2-5`, `1,3,9-`.
public struct PageSelection: Arguments {
  /// A run of pages, counted from 1.
  public struct Run: Hashable, Sendable {
    public let first: Int
    /// The last page. `nil` for the end of the document. If it is less than `first`, the pages are in reverse order.
    public let last: Int?

    public init(first: Int, last: Int?) {
      self.first = first
      self.last = last
    }
  }

  public let runs: [Run]

  public init(page: Int) { runs = [Run(first: page, last: page)] }

  /// Parses a selection. Leading zeros are allowed, page 0 is not. Returns `nil` for other text.
  public init?(_ text: Substring) {
    var runs: [Run] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = Self.number(ends[0]) else { return nil }
      if ends.count == 1 {
        runs.append(Run(first: first, last: first))
      } else if ends[1].isEmpty {
        runs.append(Run(first: first, last: nil))
      } else {
        guard let last = Self.number(ends[1]) else { return nil }
        runs.append(Run(first: first, last: last))
      }
    }
    self.runs = runs
  }

  /// The page if the selection is a single page.
  public var page: Int? { runs.count == 1 && runs[0].first == runs[0].last ? runs[0].first : nil }

  /// Parses a page number of up to a billion.
  private static func number(_ text: Substring) -> Int? {
    guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(text), (1...1_000_000_000).contains(number)
    else { return nil }
    return number
  }
}

extension PageSelection {
  /// The selection as written in names, without leading zeros.
  public var description: String {
    runs.map { run in
      guard let last = run.last else { return "\(run.first)-" }
      return last == run.first ? "\(run.first)" : "\(run.first)-\(last)"
    }.joined(separator: ",")
  }
}
