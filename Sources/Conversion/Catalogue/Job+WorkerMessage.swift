internal import Bytes

/// The encoding of jobs and answers. A message consists of little-endian 64-bit words and UTF-8 text up to its end. In
/// a job, passwords follow the text, each preceded by a zero byte.
///
/// Both ends are built together, so messages have no version. Messages of workers are untrusted: a hostile file may
/// have taken over the worker.
extension Job {
  /// The maximum size of a job's message, in bytes.
  public static let messageLimit = 32768
  /// The maximum size of all passwords in a message, in bytes, including one additional byte for each.
  public static let passwordLimit = 24576

  public var message: [UInt8] {
    let text =
      switch work {
      case .count(let verb): Self.count + verb
      case .findPasswords(let isBundle, let verb): (isBundle ? Self.several : Self.one) + verb
      case .make(let recipe): recipe.description
      case .measure(let recipe): Self.measure + recipe.description
      case .series(let recipe, let count): "\(Self.series)\(count) \(recipe)"
      case .part(let recipe, let range): "\(Self.part)\(range.lowerBound) \(range.count) \(recipe)"
      }
    let bytes = WorkerMessage.bytes(
      [
        number, UInt64(bitPattern: start), UInt64(bitPattern: size), document, UInt64(bitPattern: outputLimit),
        isOnDemand ? 1 : 0,
      ], text)
    return passwords.reduce(bytes) { $0 + [0] + $1 }
  }

  private static let count = "count "
  private static let measure = "measure "
  private static let part = "part "
  private static let series = "series "
  private static let one = "passwords for "
  private static let several = "passwords of several for "

  /// Decodes a message and validates it. Returns `nil` if it is invalid.
  public init?(message bytes: [UInt8]) {
    guard bytes.count <= Job.messageLimit, let (words, rest) = WorkerMessage.parts(of: bytes, words: 6) else {
      return nil
    }
    let texts = rest.split(separator: 0, omittingEmptySubsequences: false)
    let start = Int64(bitPattern: words[1])
    let size = Int64(bitPattern: words[2])
    guard Bounds.holds(start), Bounds.holds(size) else { return nil }
    guard let text = String(validating: texts.first ?? [], as: UTF8.self), let work = Self.work(text) else {
      return nil
    }
    self.init(
      number: words[0], work: work, start: start, size: size, document: words[3],
      outputLimit: Int64(bitPattern: words[4]))
    isOnDemand = words[5] != 0
    passwords = texts.dropFirst().filter { !$0.isEmpty }.map { Array($0) }
  }
}

extension Job {
  /// Parses the text of a message. Recipes are validated by their worker.
  private static func work(_ text: String) -> Work? {
    guard !text.isEmpty else { return nil }
    for (head, isBundle) in [(one, false), (several, true)] where text.hasPrefix(head) {
      return .findPasswords(isBundle: isBundle, verb: String(text.dropFirst(head.count)))
    }
    if text.hasPrefix(count) { return .count(verb: String(text.dropFirst(count.count))) }
    if text.hasPrefix(measure) { return .measure(Recipe(unchecked: String(text.dropFirst(measure.count)))) }
    if text.hasPrefix(series) {
      let words = text.dropFirst(series.count).split(separator: " ", maxSplits: 1)
      guard words.count == 2, let count = Int(words[0]), (1...longestSeries).contains(count) else { return nil }
      return .series(Recipe(unchecked: String(words[1])), count: count)
    }
    guard text.hasPrefix(part) else { return .make(Recipe(unchecked: text)) }
    let words = text.dropFirst(part.count).split(separator: " ", maxSplits: 2)
    guard words.count == 3, let start = Int64(words[0]), let count = Int64(words[1]), Bounds.holds(start),
      Bounds.holds(count)
    else { return nil }
    return .part(Recipe(unchecked: String(words[2])), start..<start + count)
  }
}

extension JobAnswer {
  /// The maximum size of an answer's message, in bytes.
  public static let messageLimit = 4096
  /// The value that replaces the failure's number in a progress message.
  private static let underWay: UInt64 = 256

  public var message: [UInt8] {
    switch outcome {
    case .underWay(let bytes, let thousandths):
      WorkerMessage.bytes([number, Self.underWay, UInt64(bitPattern: bytes), UInt64(bitPattern: thousandths)], "")
    case .done(let value, let remark):
      WorkerMessage.bytes([number, 0, UInt64(bitPattern: value)], String(remark.prefix(500)))
    case .failed(let failure, let reason):
      WorkerMessage.bytes([number, UInt64(failure.rawValue), 0], String(reason.prefix(500)))
    }
  }

  /// Decodes a message and validates it. Returns `nil` if it is invalid.
  public init?(message bytes: [UInt8]) {
    guard bytes.count <= JobAnswer.messageLimit, let (words, rest) = WorkerMessage.parts(of: bytes, words: 3) else {
      return nil
    }
    let text = String(decoding: rest, as: UTF8.self)
    if words[1] == Self.underWay {
      guard rest.count == 8, let bytes = Int64(exactly: words[2]) else { return nil }
      let thousandths = Int64(clamping: UInt64(littleEndianBytes: rest))
      self.init(
        number: words[0], outcome: .underWay(bytes: Bounds.size(bytes), thousandths: min(thousandths, 1000)))
    } else if words[1] == 0 {
      // A document may claim any number of pages. The caller rejects it because of that number.
      guard let number = Int64(exactly: words[2]) else { return nil }
      self.init(number: words[0], outcome: .done(Bounds.size(number), remark: text))
    } else {
      guard let failure = UInt8(exactly: words[1]).flatMap(Failure.init) else { return nil }
      self.init(number: words[0], outcome: .failed(failure, reason: text))
    }
  }
}

private enum WorkerMessage {
  static func bytes(_ words: [UInt64], _ text: String) -> [UInt8] {
    [UInt8](littleEndian: words) + Array(text.utf8)
  }

  static func parts(of bytes: [UInt8], words count: Int) -> (words: [UInt64], rest: ArraySlice<UInt8>)? {
    guard bytes.count >= 8 * count else { return nil }
    let words = (0..<count).map { UInt64(littleEndianBytes: bytes[(8 * $0)..<(8 * $0 + 8)]) }
    return (words, bytes[(8 * count)...])
  }
}
