package import Bytes
internal import Catalogue

/// A kind of document, as `kind:` selects it.
package enum DocumentKind: UInt8, CaseIterable, Sendable {
  case other = 0
  case folder = 1
  case mail = 2
  case document = 3
  case text = 4
  case table = 5
  case presentation = 6
  case book = 7
  case image = 8
  case sound = 9
  case film = 10
  case archive = 11
  case mailbox = 12
  case card = 13
  case code = 14
  case page = 15

  /// The name in results.
  package var name: String { Self.names[self]?.first ?? "other" }

  private static let names: [DocumentKind: [String]] = [
    .other: ["other"], .folder: ["folder", "directory"], .mail: ["mail", "message", "email"],
    .document: ["document", "doc"], .text: ["text"], .table: ["table", "spreadsheet"],
    .presentation: ["presentation", "slides"], .book: ["book", "ebook"], .image: ["image", "picture", "photo"],
    .sound: ["sound", "audio", "music"], .film: ["film", "video", "movie"], .archive: ["archive"],
    .mailbox: ["mailbox"], .card: ["card", "contact", "calendar"], .code: ["code", "source"],
    .page: ["page", "webpage"],
  ]

  /// Returns the kinds of a name. Empty for another name.
  static func named(_ name: String) -> [DocumentKind] {
    allCases.filter { names[$0]?.contains(name) ?? false }
  }

  /// Returns whether a name is a kind, or an extension of known files.
  static func isKnown(_ name: String) -> Bool {
    !named(name).isEmpty || ofFile(name) != nil || extensions.contains(name)
  }

  private static let extensions: Set<String> = Set(
    Catalogue.standard.formats.flatMap(\.extensions).map(\.text))

  /// Returns the kind of a file with an extension in lower case. Returns `nil` for an unknown extension.
  static func ofFile(_ fileExtension: String) -> DocumentKind? { byExtension[fileExtension] }

  /// Returns the kind of a file with a name. Returns `nil` for a name without a known extension.
  package static func ofFile(_ name: FileName) -> DocumentKind? { name.fileExtension.flatMap { ofFile($0.text) } }

  private static let byExtension: [String: DocumentKind] = {
    let lists: [(DocumentKind, String)] = [
      (.document, "pdf ps djvu doc docx docm dot dotx odt ott rtf pages wpd tex"),
      (.table, "xls xlsx xlsm xlsb ods ots csv tsv numbers parquet"), (.presentation, "ppt pptx pps ppsx odp key"),
      (.book, "epub mobi azw azw3 fb2"), (.page, "html htm xhtml mht mhtml"), (.mail, "eml msg"),
      (.mailbox, "mbox mbx pst ost"), (.card, "vcf ics"),
      (.text, "txt text md markdown log rst org nfo srt vtt ass sub json xml yaml yml ini conf cfg toml"),
      (
        .code,
        "c h cc cpp cxx hpp m mm swift py pl rb js ts jsx tsx java kt go rs cs php sh bash zsh lua sql r jl hs ml scala "
          + "css scss asm s vb ps1 cmake make gradle"
      ),
      (.archive, "zip 7z rar tar gz tgz bz2 tbz2 xz txz zst iso cab deb rpm jar war cpio lz lzma ar cbz cbr"),
    ]
    var kinds: [String: DocumentKind] = [:]
    for format in Format.images { for name in format.extensions { kinds[name.text] = .image } }
    for format in Format.sounds { for name in format.extensions { kinds[name.text] = .sound } }
    for format in Format.films { for name in format.extensions { kinds[name.text] = .film } }
    for (kind, names) in lists { for name in names.split(separator: " ") { kinds[String(name)] = kind } }
    return kinds
  }()
}
