internal import Bytes

/// How jobs and answers travel: little-endian 64-bit words, then text in UTF-8 to the message's end; in a job, passwords behind
/// it, each with a byte of 0 in front.
///
/// Both ends are built together, so there is no version; but what a worker sends may come from code that a hostile file took
/// over, so it is read with care.
extension Job {
  /// No message is longer.
  public static let messageLimit = 32768
  /// What passwords may take of it, with a byte more for each.
  public static let passwordLimit = 24576

  public var message: [UInt8] {
    let text =
      switch work {
      case .count(let verb): Self.count + verb
      case .findPasswords(let isBundle): isBundle ? Self.several : Self.one
      case .make(let recipe): recipe.description
      }
    let bytes = Message.bytes(
      [number, UInt64(bitPattern: start), UInt64(bitPattern: size), document, UInt64(bitPattern: outputLimit)], text)
    return passwords.reduce(bytes) { $0 + [0] + $1 }
  }

  private static let count = "count "
  private static let one = "passwords"
  private static let several = "passwords of several"

  /// nil for what `message` never gives. A door.
  public init?(message bytes: [UInt8]) {
    guard bytes.count <= Job.messageLimit, let (words, rest) = Message.parts(of: bytes, words: 5) else { return nil }
    let texts = rest.split(separator: 0, omittingEmptySubsequences: false)
    let text = String(decoding: texts.first ?? [], as: UTF8.self)
    let start = Int64(bitPattern: words[1])
    let size = Int64(bitPattern: words[2])
    guard Bounds.holds(start), Bounds.holds(size) else { return nil }
    let work: Work
    switch text {
    case Self.one, Self.several: work = .findPasswords(isBundle: text == Self.several)
    default:
      // What it means, its worker knows.
      guard let text = String(validating: texts[0], as: UTF8.self), !text.isEmpty else { return nil }
      let verb = text.hasPrefix(Self.count) ? String(text.dropFirst(Self.count.count)) : nil
      work = verb.map { .count(verb: $0) } ?? .make(Recipe(unchecked: text))
    }
    self.init(
      number: words[0], work: work, start: start, size: size, document: words[3],
      outputLimit: Int64(bitPattern: words[4]))
    passwords = texts.dropFirst().filter { !$0.isEmpty }.map { Array($0) }
  }
}

extension JobAnswer {
  /// No message is longer.
  public static let messageLimit = 4096

  public var message: [UInt8] {
    switch outcome {
    case .done(let value, let remark):
      Message.bytes([number, 0, UInt64(bitPattern: value)], String(remark.prefix(500)))
    case .failed(let failure, let reason):
      Message.bytes([number, UInt64(failure.rawValue), 0], String(reason.prefix(500)))
    }
  }

  /// nil for what `message` never gives. A door.
  public init?(message bytes: [UInt8]) {
    guard bytes.count <= JobAnswer.messageLimit, let (words, rest) = Message.parts(of: bytes, words: 3) else {
      return nil
    }
    let text = String(decoding: rest, as: UTF8.self)
    if words[1] == 0 {
      // A document may claim any number of pages, and that is what it is refused for.
      guard let number = Int64(exactly: words[2]) else { return nil }
      self.init(number: words[0], outcome: .done(Bounds.size(number), remark: text))
    } else {
      guard let failure = UInt8(exactly: words[1]).flatMap(Failure.init) else { return nil }
      self.init(number: words[0], outcome: .failed(failure, reason: text))
    }
  }
}

private enum Message {
  static func bytes(_ words: [UInt64], _ text: String) -> [UInt8] {
    [UInt8](littleEndian: words) + Array(text.utf8)
  }

  static func parts(of bytes: [UInt8], words count: Int) -> (words: [UInt64], rest: ArraySlice<UInt8>)? {
    guard bytes.count >= 8 * count else { return nil }
    let words = (0..<count).map { UInt64(littleEndianBytes: bytes[(8 * $0)..<(8 * $0 + 8)]) }
    return (words, bytes[(8 * count)...])
  }
}
