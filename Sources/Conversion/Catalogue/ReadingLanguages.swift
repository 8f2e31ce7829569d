internal import Glibc

/// The languages of text recognition, the most likely first: `deu+eng`.
public struct ReadingLanguages: Arguments {
  /// The codes of the languages, as in Tesseract. At least one, without duplicates.
  public let codes: [String]

  public static let english = ReadingLanguages(codes: ["eng"])
  /// The maximum number of languages. Each costs time and memory.
  private static let most = 8

  private init(codes: [String]) { self.codes = codes }

  /// Returns `nil` if a language is unknown or a duplicate, or if there are too many.
  public init?(_ text: Substring) {
    let codes = text.split(separator: "+", omittingEmptySubsequences: false).map(String.init)
    guard codes.count <= Self.most, Set(codes).count == codes.count, codes.allSatisfy({ Self.names[$0] != nil }) else {
      return nil
    }
    self.codes = codes
  }

  public var description: String { codes.joined(separator: "+") }

  /// The directories that are searched for `CODE.traineddata`. These are `TESSDATA_PREFIX`, as in Tesseract, and the
  /// directories of Debian, Ubuntu, Fedora and Arch. The first one with the file is used.
  public static let folders: [String] = {
    let named = unsafe getenv("TESSDATA_PREFIX").map { unsafe String(cString: $0) }
    return [named].compactMap(\.self).filter { $0.hasPrefix("/") } + [
      "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tesseract/tessdata",
      "/usr/share/tessdata",
    ]
  }()

  /// The suffix of data files, after the code.
  public static let suffix = ".traineddata"

  /// Returns the codes of the languages whose data files have these names.
  public static func codes(ofFiles names: [String]) -> [String] {
    names.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }
  }

  /// Returns the Debian package with a language's data.
  public static func package(of code: String) -> String {
    "tesseract-ocr-\(String(code.map { $0 == "_" ? "-" : $0 }))"
  }
}
