/// Finds the character set that texts were written in, by what they look like in each.
///
/// Of every set that comes into question, and every language that is written in it, it is summed up how unlikely the texts
/// are: which letters are rare in the language, which signs, capitals and neighbours no word has. The set in which they are
/// the least unlikely wins; what programs use most has an advantage, which decides where there is little to tell by.
public enum CharsetDetector {
  /// What Latin-1 is taken for.
  public static let western = "WINDOWS-1252"

  /// Where the texts come from.
  public enum Use: Sendable {
    /// Names in an archive, in a code page of MS-DOS or Windows: code page 437 is what the format means.
    case fileNames
    /// Text in a file or a message.
    case text
  }

  /// A set, the languages that are written in it, and what it costs that a text is in it, in bits.
  private struct Candidate {
    let name: String
    let script: Language.Script
    let handicap: Int
  }

  /// The name, which `CharsetConverter` knows, of the likeliest set of all `pieces` together, none of which is UTF-8.
  ///
  /// A piece is the name of a file or folder, or a line. Of very many the first tell. Takes a lock; linear.
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

  /// So many pieces tell, of so many bytes.
  private static let mostPieces = 200
  private static let longestPiece = 200

  /// What tells something, each once.
  private static func evidence(in pieces: [ArraySlice<UInt8>]) -> [ArraySlice<UInt8>] {
    var known: Set<ArraySlice<UInt8>> = []
    var result: [ArraySlice<UInt8>] = []
    for piece in pieces where result.count < mostPieces {
      guard piece.contains(where: { $0 >= 0x80 }), !isChart(piece), known.insert(piece).inserted else { continue }
      result.append(piece.prefix(longestPiece))
    }
    return result
  }

  /// Whether a piece shows characters in their order: a table of them is in no language.
  private static func isChart(_ piece: ArraySlice<UInt8>) -> Bool {
    var run = 1
    for (one, next) in zip(piece, piece.dropFirst()) {
      run = one >= 0x80 && next > one && next - one == 1 ? run + 1 : 1
      if run == 8 { return true }
    }
    return false
  }

  /// Of equals the first.
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
