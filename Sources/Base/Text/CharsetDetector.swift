/// Detects the character set of texts by their plausibility in each set.
///
/// For every candidate set and every language written in it, the costs of the texts are added up. Rare letters have a
/// cost, as do signs, capitals and neighbours that do not occur in words. The set with the lowest cost wins. Common
/// sets have an advantage, which decides when there is little evidence.
public enum CharsetDetector {
  /// The set that replaces Latin-1.
  public static let western = "WINDOWS-1252"

  /// The origin of the texts.
  public enum Use: Sendable {
    /// Names in an archive, in a code page of MS-DOS or Windows: the format specifies code page 437.
    case fileNames
    /// Text in a file or a message.
    case text
  }

  /// A set, the script of its languages, and its prior cost, in bits.
  private struct Candidate {
    let name: String
    let script: Language.Script
    let handicap: Int
  }

  /// Returns the likeliest set of all `pieces` together, by a name that `CharsetConverter` knows. None of the pieces is
  /// UTF-8.
  ///
  /// A piece is the name of a file or directory, or a line. If there are very many, only the first are used. Takes a
  /// lock; O(n).
  public static func charset(of pieces: [ArraySlice<UInt8>], in use: Use) -> String {
    let pieces = evidence(in: pieces)
    let candidates = use == .text ? forText : forNames
    var best = (cost: Int.max, name: candidates[0].name)
    for candidate in pieces.isEmpty ? [] : candidates {
      let texts = pieces.map { DetectedText($0, in: candidate.name) }
      for language in Language.all where language.script == candidate.script {
        var cost = candidate.handicap + language.handicap
        for text in texts where cost < best.cost { cost += text.cost(in: language) }
        if cost < best.cost { best = (cost, candidate.name) }
      }
    }
    return best.name
  }

  /// The maximum number of pieces used, and the maximum number of bytes of each.
  private static let mostPieces = 200
  private static let longestPiece = 200

  /// Returns the pieces that are evidence, without duplicates.
  private static func evidence(in pieces: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>] {
    var known: Set<ArraySlice<UInt8>> = []
    var result: [ArraySlice<UInt8>] = []
    for piece in pieces where result.count < mostPieces {
      guard piece.contains(where: { $0 >= 0x80 }), !isChart(piece), known.insert(piece).inserted else { continue }
      result.append(piece.prefix(longestPiece))
    }
    return result
  }

  /// Returns whether a piece lists characters in code order. Such a table is not in any language.
  private static func isChart(_ piece: ArraySlice<UInt8>) -> Bool {
    var run = 1
    for (one, next) in zip(piece, piece.dropFirst()) {
      run = one >= 0x80 && next > one && next - one == 1 ? run + 1 : 1
      if run == 8 { return true }
    }
    return false
  }

  /// The candidates in order of preference.
  private static let forNames: [Candidate] = [
    Candidate(name: "CP437", script: .western, handicap: 0), Candidate(name: western, script: .western, handicap: 2),
    Candidate(name: "CP850", script: .western, handicap: 3), Candidate(name: "CP866", script: .cyrillic, handicap: 5),
    Candidate(name: "WINDOWS-1251", script: .cyrillic, handicap: 5),
    Candidate(name: "CP852", script: .central, handicap: 7),
    Candidate(name: "WINDOWS-1250", script: .central, handicap: 7),
    Candidate(name: "CP932", script: .japanese, handicap: 5),
    Candidate(name: "GB18030", script: .chinese, handicap: 6),
    Candidate(name: "CP949", script: .korean, handicap: 6),
    Candidate(name: "CP950", script: .taiwanese, handicap: 6),
    Candidate(name: "CP737", script: .greek, handicap: 6),
    Candidate(name: "WINDOWS-1253", script: .greek, handicap: 6),
    Candidate(name: "CP857", script: .turkish, handicap: 7),
    Candidate(name: "WINDOWS-1254", script: .turkish, handicap: 7),
    Candidate(name: "CP862", script: .hebrew, handicap: 8),
    Candidate(name: "WINDOWS-1255", script: .hebrew, handicap: 7),
    Candidate(name: "WINDOWS-1256", script: .arabic, handicap: 9),
    Candidate(name: "KOI8-R", script: .cyrillic, handicap: 9),
    Candidate(name: "CP869", script: .greek, handicap: 8), Candidate(name: "KOI8-U", script: .cyrillic, handicap: 9),
    Candidate(name: "CP855", script: .cyrillic, handicap: 9), Candidate(name: "CP860", script: .western, handicap: 6),
    Candidate(name: "CP861", script: .western, handicap: 7),
    Candidate(name: "WINDOWS-874", script: .thai, handicap: 9),
    Candidate(name: "EUC-JP-MS", script: .japanese, handicap: 10),
    Candidate(name: "CP775", script: .baltic, handicap: 10),
    Candidate(name: "WINDOWS-1257", script: .baltic, handicap: 10),
  ]

  private static let forText: [Candidate] = [
    Candidate(name: western, script: .western, handicap: 0),
    Candidate(name: "WINDOWS-1251", script: .cyrillic, handicap: 4),
    Candidate(name: "KOI8-R", script: .cyrillic, handicap: 5),
    Candidate(name: "GB18030", script: .chinese, handicap: 4),
    Candidate(name: "CP932", script: .japanese, handicap: 4),
    Candidate(name: "EUC-JP-MS", script: .japanese, handicap: 5),
    Candidate(name: "CP949", script: .korean, handicap: 5),
    Candidate(name: "CP950", script: .taiwanese, handicap: 5),
    Candidate(name: "WINDOWS-1250", script: .central, handicap: 5),
    Candidate(name: "ISO-8859-2", script: .central, handicap: 6),
    Candidate(name: "WINDOWS-1253", script: .greek, handicap: 6),
    Candidate(name: "WINDOWS-1254", script: .turkish, handicap: 7),
    Candidate(name: "WINDOWS-1255", script: .hebrew, handicap: 7),
    Candidate(name: "WINDOWS-1256", script: .arabic, handicap: 8),
    Candidate(name: "WINDOWS-874", script: .thai, handicap: 8),
    Candidate(name: "WINDOWS-1257", script: .baltic, handicap: 9),
    Candidate(name: "CP850", script: .western, handicap: 9), Candidate(name: "CP866", script: .cyrillic, handicap: 9),
  ]
}
