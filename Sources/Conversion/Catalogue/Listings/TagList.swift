/// The tags of a file as text: a line for each with its name and value. Further lines of a value start with a tab.
public struct TagList: Sendable, Equatable {
  public private(set) var tags: [(name: String, value: String)] = []

  /// The maximum number of tags, and the maximum size of a value, in bytes.
  private static let most = 1000
  private static let longest = 1 << 16

  public init() {}

  /// Appends a tag, unless it is empty or a duplicate. Removes control characters.
  public mutating func add(_ name: String, _ value: some StringProtocol) {
    var scalars = String.UnicodeScalarView()
    var size = 0
    for scalar in value.unicodeScalars where size < Self.longest {
      // The lines of a value, whatever ends them.
      if scalar.value >= 0x20 && scalar.value != 0x7f || scalar == "\n" { scalars.append(scalar) }
      size += 4
    }
    let lines = String(scalars).split(separator: "\n").map { $0.trimmingSpaces() }.filter { !$0.isEmpty }
    let text = lines.joined(separator: "\n")
    guard !text.isEmpty, tags.count < Self.most, !tags.contains(where: { $0 == (name, text) }) else { return }
    tags.append((name, text))
  }

  /// The first value of a tag. `nil` if there is none.
  public subscript(name: String) -> String? { tags.first { $0.name == name }?.value }

  public var text: String {
    tags.map { "\($0.name): \($0.value.replacing("\n", with: "\n\t"))\n" }.joined()
  }

  /// Parses the text of a list. Ignores lines without a name.
  public init(_ text: String) {
    for line in text.split(separator: "\n") {
      if line.first == "\t", let last = tags.popLast() {
        tags.append((last.name, "\(last.value)\n\(line.dropFirst())"))
      } else if let colon = line.firstRange(of: ": "), tags.count < Self.most {
        tags.append((String(line[..<colon.lowerBound]), String(line[colon.upperBound...])))
      }
    }
  }

  public static func == (one: TagList, other: TagList) -> Bool { one.tags.elementsEqual(other.tags) { $0 == $1 } }
}

extension Substring {
  fileprivate func trimmingSpaces() -> Substring {
    var text = self
    while text.last == " " { text.removeLast() }
    return text.drop { $0 == " " }
  }
}
