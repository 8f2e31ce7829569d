/// The letter costs of a language: the information content, in bits, of one occurrence.
struct Language: Sendable {
  /// A group of languages written in the same character sets.
  enum Script: Sendable {
    case western, central, turkish, baltic, cyrillic, greek, hebrew, arabic, thai
    case japanese, chinese, taiwanese, korean
  }

  let script: Script
  /// The prior cost of this language among those of its script.
  let handicap: Int
  private let costs: [UInt32: Int]

  /// The cost of a letter that the language does not have.
  private static let strange = 17

  /// Creates a language. `letters` are groups of small letters, each after its cost, separated by spaces.
  init(_ script: Script, _ handicap: Int, _ letters: String) {
    var costs: [UInt32: Int] = [:]
    for group in letters.split(separator: " ") {
      let digits = group.prefix { $0.isASCII }
      for letter in group.dropFirst(digits.count).unicodeScalars {
        costs[letter.value] = Int(digits)
        let capital = letter.properties.uppercaseMapping.unicodeScalars
        if capital.count == 1, let capital = capital.first { costs[capital.value] = Int(digits) }
      }
    }
    if let usual = Language.usual[script] {
      for character in usual.many.unicodeScalars { costs[character.value] = 9 }
      for character in usual.most.unicodeScalars { costs[character.value] = 7 }
    }
    self.script = script
    self.handicap = handicap
    self.costs = costs
  }

  func cost(ofLetter letter: UInt32) -> Int { costs[letter] ?? Self.strange }

  /// Returns the cost of an ideograph or a Korean syllable. `isCommon` tells whether it is in its character set's first
  /// level, which has those in daily use.
  func cost(ofIdeograph character: UInt32, isCommon: Bool) -> Int { costs[character] ?? (isCommon ? 13 : 17) }

  var isOfWords: Bool {
    switch script {
    case .japanese, .chinese, .taiwanese, .korean: false
    default: true
    }
  }
}
