package import Catalogue
internal import Files
internal import Glibc

/// The languages of text recognition that are installed, and the user's language.
package enum LocalLanguages {
  /// The languages with installed data, by Tesseract's codes.
  package static var installed: [String] {
    let found = ReadingLanguages.folders.flatMap { ReadingLanguages.codes(ofFiles: fileNames(inFolder: $0)) }
    return Set(found).intersection(ReadingLanguages.names.keys).sorted()
  }

  /// The locale's language if it is installed, otherwise English.
  package static var usual: ReadingLanguages {
    guard let code = ofLocale, installed.contains(code) else { return .english }
    return ReadingLanguages(code[...]) ?? .english
  }

  /// The locale's language. `nil` if the locale has none, or one that cannot be recognised.
  package static var ofLocale: String? {
    let locale =
      (["LC_ALL", "LC_MESSAGES", "LANG"] as [String])
      .compactMap { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
      .first { !$0.isEmpty } ?? "C"
    return codes[String(locale.prefix { $0 != "." && $0 != "@" })] ?? codes[String(locale.prefix(2))]
  }

  /// Tesseract's codes by those of locales, which are ISO 639-1's, with a country if it determines the script.
  private static let codes = [
    "af": "afr", "ar": "ara", "be": "bel", "bg": "bul", "bn": "ben", "bs": "bos", "ca": "cat", "cs": "ces", "cy": "cym",
    "da": "dan", "de": "deu", "el": "ell", "eo": "epo", "es": "spa", "et": "est", "eu": "eus", "fa": "fas", "fi": "fin",
    "fr": "fra", "ga": "gle", "gl": "glg", "gu": "guj", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "hy": "hye",
    "id": "ind", "is": "isl", "it": "ita", "ja": "jpn", "ka": "kat", "kk": "kaz", "km": "khm", "kn": "kan", "ko": "kor",
    "lb": "ltz", "lt": "lit", "lv": "lav", "mk": "mkd", "ml": "mal", "mr": "mar", "ms": "msa", "mt": "mlt", "nb": "nor",
    "nl": "nld", "nn": "nor", "no": "nor", "pa": "pan", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus", "sk": "slk",
    "sl": "slv", "sq": "sqi", "sr": "srp", "sv": "swe", "sw": "swa", "ta": "tam", "te": "tel", "th": "tha", "tr": "tur",
    "uk": "ukr", "ur": "urd", "uz": "uzb", "vi": "vie", "yi": "yid", "zh": "chi_sim", "zh_TW": "chi_tra",
    "zh_HK": "chi_tra",
  ]
}
