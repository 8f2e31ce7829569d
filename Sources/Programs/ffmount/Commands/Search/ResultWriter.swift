/// The lines of results on standard output.
protocol ResultLines: Sendable {
  associatedtype Result: Sendable
  /// The errno of a failed write, after which nothing more is written.
  var error: Int32? { get }
  /// Returns the path of a result, as a program in the user's folder can open it.
  func path(of result: Result) -> String
  /// Writes a result. Returns whether more can be written.
  mutating func add(_ result: Result) -> Bool
  mutating func finish()
}

/// Writes results while they are found, or finds the one to open.
struct ResultWriter<Lines: ResultLines>: Sendable {
  private(set) var lines: Lines
  /// The number of results so far.
  private(set) var count = 0
  /// The path of the result to open. `nil` until it is found.
  private(set) var chosen: String?
  private let most: Int
  private let opened: Int?

  /// - Parameters:
  ///   - most: the maximum number of results.
  ///   - opened: the number of the result to open, from 1. `nil` to write them.
  init(_ lines: Lines, atMost most: Int, opening opened: Int?) {
    (self.lines, self.most, self.opened) = (lines, opened ?? most, opened)
  }

  /// Takes the next result. Returns whether more are wanted.
  mutating func take(_ result: Lines.Result) -> Bool {
    count += 1
    if count == opened { chosen = lines.path(of: result) }
    if opened == nil, !lines.add(result) { return false }
    return count < most
  }

  mutating func finish() { lines.finish() }
}
