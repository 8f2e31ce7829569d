internal import Bytes
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

  /// The directories that are searched for `CODE.traineddata`. These are `TESSDATA_PREFIX`, as in Tesseract, the
  /// directories of Debian, Ubuntu, Fedora and Arch, and the data of a download. The first one with the file is used.
  public static let folders: [String] = {
    let named = unsafe getenv("TESSDATA_PREFIX").map { unsafe String(cString: $0) }
    return [named].compactMap(\.self).filter { $0.hasPrefix("/") } + [
      "/usr/share/tesseract-ocr/5/tessdata", "/usr/share/tesseract-ocr/4.00/tessdata", "/usr/share/tesseract/tessdata",
      "/usr/share/tessdata",
    ] + [PackagedData.path(of: "/usr/share/tessdata")].compactMap(\.self)
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

extension ReadingLanguages {
  /// The names of all languages that Tesseract supports, by Tesseract's codes, which are those of ISO 639-2 where
  /// possible.
  public static let names: [String: String] = [
    "afr": "Afrikaans", "amh": "Amharic", "ara": "Arabic", "asm": "Assamese", "aze": "Azerbaijani",
    "aze_cyrl": "Azerbaijani in Cyrillic", "bel": "Belarusian", "ben": "Bengali", "bod": "Tibetan", "bos": "Bosnian",
    "bre": "Breton", "bul": "Bulgarian", "cat": "Catalan", "ceb": "Cebuano", "ces": "Czech",
    "chi_sim": "Simplified Chinese", "chi_sim_vert": "vertical Simplified Chinese", "chi_tra": "Traditional Chinese",
    "chi_tra_vert": "vertical Traditional Chinese", "chr": "Cherokee", "cos": "Corsican", "cym": "Welsh",
    "dan": "Danish", "deu": "German", "div": "Divehi", "dzo": "Dzongkha", "ell": "Greek", "eng": "English",
    "enm": "Middle English", "epo": "Esperanto", "est": "Estonian", "eus": "Basque", "fao": "Faroese",
    "fas": "Persian", "fil": "Filipino", "fin": "Finnish", "fra": "French", "frk": "German in Fraktur",
    "frm": "Middle French", "fry": "West Frisian", "gla": "Scottish Gaelic", "gle": "Irish", "glg": "Galician",
    "grc": "Ancient Greek", "guj": "Gujarati", "hat": "Haitian", "heb": "Hebrew", "hin": "Hindi", "hrv": "Croatian",
    "hun": "Hungarian", "hye": "Armenian", "iku": "Inuktitut", "ind": "Indonesian", "isl": "Icelandic",
    "ita": "Italian", "ita_old": "old Italian", "jav": "Javanese", "jpn": "Japanese", "jpn_vert": "vertical Japanese",
    "kan": "Kannada", "kat": "Georgian", "kat_old": "old Georgian", "kaz": "Kazakh", "khm": "Khmer", "kir": "Kyrgyz",
    "kmr": "Kurmanji", "kor": "Korean", "kor_vert": "vertical Korean", "lao": "Lao", "lat": "Latin", "lav": "Latvian",
    "lit": "Lithuanian", "ltz": "Luxembourgish", "mal": "Malayalam", "mar": "Marathi", "mkd": "Macedonian",
    "mlt": "Maltese", "mon": "Mongolian", "mri": "Maori", "msa": "Malay", "mya": "Burmese", "nep": "Nepali",
    "nld": "Dutch", "nor": "Norwegian", "oci": "Occitan", "ori": "Oriya", "pan": "Punjabi", "pol": "Polish",
    "por": "Portuguese", "pus": "Pashto", "que": "Quechua", "ron": "Romanian", "rus": "Russian", "san": "Sanskrit",
    "sin": "Sinhala", "slk": "Slovak", "slv": "Slovenian", "snd": "Sindhi", "spa": "Spanish",
    "spa_old": "old Spanish", "sqi": "Albanian", "srp": "Serbian", "srp_latn": "Serbian in Latin letters",
    "sun": "Sundanese", "swa": "Swahili", "swe": "Swedish", "syr": "Syriac", "tam": "Tamil", "tat": "Tatar",
    "tel": "Telugu", "tgk": "Tajik", "tha": "Thai", "tir": "Tigrinya", "ton": "Tonga", "tur": "Turkish",
    "uig": "Uyghur", "ukr": "Ukrainian", "urd": "Urdu", "uzb": "Uzbek", "uzb_cyrl": "Uzbek in Cyrillic",
    "vie": "Vietnamese", "yid": "Yiddish", "yor": "Yoruba",
  ]
}
