internal import Glibc

/// The languages in which text is recognised, the likeliest first: `deu+eng`.
public struct ReadingLanguages: Arguments {
  /// As Tesseract calls them; at least one, none twice.
  public let codes: [String]

  public static let english = ReadingLanguages(codes: ["eng"])
  /// Each takes time and memory.
  private static let most = 8

  private init(codes: [String]) { self.codes = codes }

  /// nil if one is not known, or is there twice.
  public init?(_ text: Substring) {
    let codes = text.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    guard codes.count <= Self.most, Set(codes).count == codes.count, codes.allSatisfy({ Self.names[$0] != nil }) else {
      return nil
    }
    self.codes = codes
  }

  public var description: String { codes.joined(separator: "+") }

  /// Where `CODE.traineddata` are sought, the first folder that has one counts: in that of `TESSDATA_PREFIX`, as by Tesseract,
  /// and where Debian, Ubuntu, Fedora and Arch keep them.
  public static let folders: [String] = {
    let named = unsafe getenv("TESSDATA_PREFIX").map { unsafe String(cString: $0) }
    return [named].compactMap(\.self).filter { $0.hasPrefix("/") } + [
      "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tesseract/tessdata",
      "/usr/share/tessdata",
    ]
  }()

  /// What follows the code in such a name.
  public static let suffix = ".traineddata"

  /// Those that the files of these names are data of.
  public static func codes(ofFiles names: [String]) -> [String] {
    names.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }
  }

  /// The Debian package with a language's data.
  public static func package(of code: String) -> String {
    "tesseract-ocr-\(String(code.map { $0 == "_" ? "-" : $0 }))"
  }
}
