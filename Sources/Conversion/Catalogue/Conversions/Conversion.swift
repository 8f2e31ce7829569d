internal import Bytes

/// A conversion from some formats to another. The worker program implements it with a `JobHandler` of the same verb.
public struct Conversion: Sendable {
  /// The form of the names of results.
  public enum Naming: Sendable {
    /// `NAME[.MODIFIER…].as-RESULT`.
    case suffix
    /// `STEM[.MODIFIER…].VERB.EXTENSION` beside `STEM.EXTENSION`.
    case stem
    /// `NAME[.MODIFIER…].VERB.EXTENSION`.
    case whole
    /// `FOLDER.VERB.EXTENSION`, made from the files in a directory.
    case folder
    /// Names that a separate view assigns.
    case inView
  }

  /// The order in which a result's bytes become readable.
  public enum Making: Sendable {
    /// All at once, when the result is complete.
    case whole
    /// From first to last, while they are made. The size is known beforehand if the handler can measure it.
    case growing
    /// Each part independently. The size is measured, and parts are made only when they are read. If the handler
    /// answers `JobAnswer.inOrder`, the result is `growing` instead.
    case parts
  }

  /// An estimate of the size of a result.
  public enum Size: Sendable {
    /// The source's size times a factor, plus 1 MiB, which is too large for nearly all results. `atMost` is a limit in
    /// bytes.
    case guess(Int64, atMost: Int64 = .max)
    /// An estimate for a photo that another codec has compressed more than JPEG does. A small file can be a large picture
    /// of low quality, for which JPEG needs ten times the bytes. A large file has the quality of a camera, for which
    /// JPEG needs about as many. The number of pixels would tell more, but a listing opens no file.
    case photo
    /// The source's size, which results never exceed.
    case atMostSource

    /// Returns the estimated size for a source of this size, in bytes.
    public func estimate(fromFileOf size: Int64) -> Int64 {
      switch self {
      case .guess(let factor, let most): min(most, Bounds.size(Bounds.size(size) * factor + 1 << 20))
      case .photo: Bounds.size(min(Bounds.size(size), 256 << 10) * 6 + Bounds.size(size) * 2 + 1 << 20)
      case .atMostSource: Bounds.size(size)
      }
    }
  }

  /// The identifier in recipes. Unique in a catalogue.
  public let verb: String
  /// The form of the verb in names.
  public let word: String
  public private(set) var sources: Set<Format>
  /// Formats of files in a directory that are accepted if other conversions can convert them to one of `sources`.
  public var indirectSources: Set<Format> = []
  public let result: Format
  public let naming: Naming
  /// The type of the arguments. `nil` if there are none.
  public let arguments: (any Arguments.Type)?
  /// The source formats for which the result is listed by default.
  public private(set) var listed: Set<Format>
  /// The source formats for which `-o views=` can list the result. Includes `listed`.
  public private(set) var listable: Set<Format>
  public let size: Size
  /// The estimates for sources of some formats, instead of `size`.
  public var sizes: [Format: Size] = [:]
  /// The worker programs that implement the conversion, the best first.
  public private(set) var programs: [String]
  /// The sources for which `reducedProgram` implements the conversion. Empty if it is not one of `programs`.
  private var commonSources: Set<Format> = []
  /// User-visible descriptions of the source and the result. Adjacent conversions with the same descriptions are shown
  /// together.
  public let meaning: (sources: String, result: String)
  /// Whether a file that cannot be converted is its own result.
  public var keepsWhatItCannotChange = false
  /// The order in which results become readable. Handlers answer `Job.Work.measure` unless this is `whole`.
  public var making = Making.whole
  /// The maximum size of a result, in bytes.
  public var outputLimit = Job.usualOutput
  /// The maximum multiple of the usual time limit. Text recognition takes seconds per page.
  public var slowness = 1
  /// Whether a job can make several files at a time, which are the next ones in the view. See `Job.Work.series`.
  public var comesInSeries = false
  /// The verb of the conversion that reads a single page for this one. Each page is a job of its own, and its result is
  /// kept. The input is a `Bundle` of the file and these results. `nil` if the file alone is the input.
  public var pageVerb: String?
  /// The arguments of names without modifiers. `nil` if the conversion has no modifiers.
  public var usual: (any Modifiers)?
  /// Whether another conversion can continue from its result automatically. See `Catalogue.chain`.
  public var leadsOn = false
  /// Whether no other conversion may precede this one, because better results can be made directly from the source.
  public var isDirect = false

  /// Creates a conversion. `verb` defaults to the name of the result's format, and `word` to the verb.
  public init(
    _ verb: String? = nil, named word: String? = nil, from sources: [Format], to result: Format,
    as naming: Naming = .suffix,
    arguments: (any Arguments.Type)? = nil, listed: [Format] = [], listable: [Format] = [], size: Size,
    programs: [String],
    meaning: (sources: String, result: String)
  ) {
    self.verb = verb ?? result.name
    self.word = word ?? self.verb
    self.sources = Set(sources)
    self.result = result
    self.naming = naming
    self.arguments = arguments
    self.listed = Set(listed)
    self.listable = Set(listed + listable)
    self.size = size
    self.programs = programs
    self.meaning = meaning
    usual = (arguments as? any Modifiers.Type).map { $0.init() }
  }

  /// The worker program for common formats, which needs few libraries.
  public static let reducedProgram = "ffimage"

  /// Returns the conversion with `reducedProgram` as the last of its programs, which implements it for some sources.
  func reducible(for formats: [Format]) -> Conversion {
    var copy = self
    copy.programs.append(Self.reducedProgram)
    copy.commonSources = sources.intersection(formats)
    return copy
  }

  /// Returns whether `reducedProgram` implements the conversion for sources of a format.
  public func isReducible(for source: Format) -> Bool { commonSources.contains(source) }

  /// Returns the conversion of the sources for which an available worker program implements it. Returns `nil` if there
  /// are none.
  public func limited(toPrograms isThere: (String) -> Bool) -> Conversion? {
    guard let program = programs.first(where: isThere) else { return nil }
    return program == Self.reducedProgram ? keeping { commonSources.contains($0) } : self
  }

  /// Returns the conversion of the sources for which no available worker program implements it. Returns `nil` if there
  /// are none.
  public func remainder(withoutPrograms isThere: (String) -> Bool) -> Conversion? {
    guard let program = programs.first(where: isThere) else { return self }
    return program == Self.reducedProgram ? keeping { !commonSources.contains($0) } : nil
  }

  private func keeping(_ isKept: (Format) -> Bool) -> Conversion? {
    var copy = self
    copy.sources = sources.filter(isKept)
    copy.listed = listed.filter(isKept)
    copy.listable = listable.filter(isKept)
    return copy.sources.isEmpty ? nil : copy
  }

  /// Returns the estimated size of a result, in bytes, for a source of this size. The format is that of its name, or nil.
  public func estimate(fromFileOf size: Int64, _ format: Format?) -> Int64 {
    (format.flatMap { sizes[$0] } ?? self.size).estimate(fromFileOf: size)
  }

  /// Returns the multiple of the usual time limit for a source of this size in bytes. Small files with many pages are
  /// rare, so the limit grows with the size.
  public func times(fromFileOf size: Int64) -> Int { Int(min(Int64(slowness), 1 + max(0, size) / Self.usualWork)) }

  /// The source size that extends the time limit by one unit, in bytes. Equals thirty pages in black and white, or
  /// fewer in colour.
  private static let usualWork: Int64 = 200_000

  /// The recipe without any modifier.
  public var plainRecipe: Recipe { Recipe(verb: verb, usual) }

  /// Returns the recipe for dot-separated modifiers. Returns `nil` if one is invalid, or not valid for a source of this
  /// format. If `source` is `nil`, modifiers for any format are accepted.
  public func recipe(_ words: String, of source: Format? = nil) -> Recipe? {
    guard var modifiers = usual else { return words.isEmpty ? plainRecipe : nil }
    for word in words.split(separator: ".") where !modifiers.add(word) { return nil }
    guard modifiers.isComplete, source.map({ modifiers.apply(to: $0) }) ?? true else { return nil }
    return Recipe(verb: verb, modifiers)
  }
}

/// Conversions that join all sounds, or all films, in a directory: `FOLDER[.MODIFIER…].merged.EXTENSION`. The files are
/// passed as a `Bundle`.
extension Conversion {
  public static let joined: [Conversion] =
    [Format.mp3, .m4a, .opus].map { joined($0, SoundJoinChanges.self) } + [joined(.flac, SoundJoinChanges.self)]
    + [Format.mp4, .mkv].map { joined($0, FilmJoinChanges.self) }

  private static func joined(_ result: Format, _ arguments: any Modifiers.Type) -> Conversion {
    let isFilm = result.family == .film
    let kind = isFilm ? "films" : "sounds"
    var conversion = Conversion(
      joinedVerb(result), named: "merged", from: isFilm ? Format.films : Format.sounds, to: result, as: .folder,
      arguments: arguments, size: .guess(result == .flac ? 12 : 2), programs: ["ffmedia"],
      meaning: (
        "any folder with \(kind)", "all of them in sequence, with a chapter for each; copied if they are alike"
      ))
    conversion.outputLimit = Job.largestOutput
    conversion.slowness = 60
    return conversion
  }

  public static func joinedVerb(_ result: Format) -> String { "joined-\(result.name)" }
}

/// Conversions of sound, and of the sound of films: `NAME[.MODIFIER…].as-FORMAT`.
extension Conversion {
  public static let sounds: [Conversion] =
    [sound(.mp3, SoundChanges.self, 2, .growing, listed: [.flac, .wav])]
    + [.wav, .aiff, .au, .caf, .w64].map { sound($0, LosslessSoundChanges.self, 40, .parts) }
    + [.flac, .wavpack].map { sound($0, LosslessSoundChanges.self, 40) }
    + [sound(.ogg, SoundChanges.self, 2, .growing)]
    + [.opus, .oga, .aac, .ac3, .mp2, .dts, .speex, .gsm, .amr, .wideAMR].map {
      sound($0, CodedSoundChanges.self, 2, .growing)
    }
    + [.m4a, .mka, .wma, .voc, .ircam].map { sound($0, CodedSoundChanges.self, 8) }

  /// A picture of a sound's loudness over time.
  public static let waveform = {
    var conversion = Conversion(
      "waveform", from: Format.sounds + Format.films, to: .png, arguments: WaveformChanges.self, size: .guess(1),
      programs: ["ffmedia"], meaning: ("any sound or film", "a picture of its sound from start to end"))
    conversion.slowness = 20
    return conversion
  }()

  private static func sound(
    _ result: Format, _ arguments: any Modifiers.Type, _ factor: Int64, _ making: Making = .whole,
    listed: [Format] = []
  ) -> Conversion {
    var conversion = Conversion(
      from: Format.sounds + Format.films, to: result, arguments: arguments, listed: listed, size: .guess(factor),
      programs: ["ffmedia"],
      meaning: (
        "any sound or film", result == .mp3 ? "its sound as MP3" : "its sound in another format"
      ))
    conversion.making = making
    conversion.outputLimit = 8 << 30
    conversion.slowness = 20
    return conversion
  }
}

/// Conversions of Outlook mail stores: the list of messages, and their attachments.
extension Conversion {
  public static let stores: [Conversion] = [letters, letterFile]

  /// The list of a mail store's messages. See `MailRecord`.
  public static let letters: Conversion = {
    var conversion = store("letters", nil, "the list of their messages")
    conversion.making = .growing
    return conversion
  }()

  /// The bytes of an attachment, by its address in the list.
  public static let letterFile = store("letter-file", MailFileAddress.self, "files that are attached to their messages")

  private static func store(_ verb: String, _ arguments: (any Arguments.Type)?, _ meaning: String) -> Conversion {
    var conversion = Conversion(
      verb, from: [], to: .messageList, as: .inView, arguments: arguments, size: .guess(1), programs: ["ffoffice"],
      meaning: ("PST, OST (Outlook)", meaning))
    conversion.outputLimit = Job.largestOutput
    conversion.slowness = 60
    return conversion
  }
}

extension Recipe {
  public static let letters = Recipe(verb: Conversion.letters.verb)

  public static func letterFile(_ address: MailFileAddress) -> Recipe {
    Recipe(verb: Conversion.letterFile.verb, address)
  }
}

extension Format {
  static let messageList = Format(
    "message-list", extensions: [], mimeType: "application/octet-stream", family: .mail)
}

/// Conversions of albums, which are one or a few files, to tracks.
extension Conversion {
  public static let records: [Conversion] = [cueSheet] + cutFormats.map { cut($0) }

  /// The cue sheet embedded in a sound file, or one made from its chapters. `CueSheet` parses it.
  public static let cueSheet = Conversion(
    "cuesheet", from: Format.sounds, to: .plainText, as: .inView, size: .guess(1), programs: ["ffmedia"],
    meaning: ("any sound", "its cue sheet"))

  /// A part of a sound, cut to the sample, with its own tags.
  private static func cut(_ result: Format) -> Conversion {
    var conversion = Conversion(
      cutVerb(result), from: Format.sounds, to: result, as: .inView, arguments: SoundCut.self, size: .guess(2),
      programs: ["ffmedia"], meaning: ("any sound", "one of its tracks"))
    if result == .wav || result == .aiff { conversion.making = .parts }
    conversion.outputLimit = 8 << 30
    conversion.slowness = 20
    return conversion
  }

  /// The formats of tracks.
  public static let cutFormats: [Format] = [.flac, .wav, .aiff, .mp3]

  public static func cutVerb(_ result: Format) -> String { "cut-\(result.name)" }

  /// Returns the format of a sound's tracks: its own format if that can be cut to the sample, otherwise a lossless one.
  public static func cutFormat(of source: Format) -> Format {
    switch source {
    case .mp3, .aiff: source
    case .wav, .w64, .au, .caf, .voc, .ircam: .wav
    default: .flac
    }
  }
}

extension Recipe {
  /// Returns the recipe for a track of a sound with this format.
  public static func cut(_ cut: SoundCut, of source: Format) -> Recipe {
    Recipe(verb: Conversion.cutVerb(Conversion.cutFormat(of: source)), cut)
  }
}

/// Conversions of documents by LibreOffice.
extension Conversion {
  public static let layouts =
    layouts(.pdf, of: Format.laidOut, listed: Format.laidOut, laidPages)
    + (Format.texts.flatMap { layouts($0, of: Format.texts, sameTexts) })
    + others(Format.workbooks, "XLSX, XLS, ODS") + others(Format.slides, "PPTX, PPT, ODP")

  private static let laidPages = (
    "DOCX, DOC, ODT, RTF, XLSX, XLS, ODS, PPTX, PPT, ODP, HTML, TXT", "its pages, as LibreOffice lays them out"
  )
  private static let sameTexts = ("DOCX, DOC, ODT, RTF, HTML, TXT", "the same document, by LibreOffice")

  /// The verb of the conversion whose program tests passwords for this conversion's sources.
  public var opener: String {
    if [ArchiveReader.library, .disk].contains(where: { programs.contains($0.program) }) {
      return Self.entries(by: .disk).verb
    }
    return ["ffoffice", "fflayout"].contains { programs.contains($0) } ? "layout-\(Format.pdf.name)" : Self.pages.verb
  }

  /// Whether the handler reads the input in pieces, so that input that is not in one file does not have to be copied.
  public var readsOnDemand: Bool { programs.contains(ArchiveReader.disk.program) }

  /// Returns conversions between each pair of these formats.
  private static func others(_ formats: [Format], _ names: String) -> [Conversion] {
    formats.map { layout("layout", formats, $0, (names, "the same document, by LibreOffice")) }
  }

  /// Returns separate conversions for HTML and plain text, which are recognized only by their names.
  private static func layouts(
    _ result: Format, of formats: [Format], listed: [Format] = [], _ meaning: (sources: String, result: String)
  ) -> [Conversion] {
    [
      layout("layout", formats, result, listed: listed, meaning), layout("pagelayout", [.html], result, meaning),
      layout("textlayout", [.plainText], result, meaning),
    ]
  }

  private static func layout(
    _ kind: String, _ sources: [Format], _ result: Format, listed: [Format] = [],
    _ meaning: (sources: String, result: String)
  ) -> Conversion {
    var conversion = Conversion(
      "\(kind)-\(result.name)", from: sources.filter { $0 != result }, to: result, arguments: LayoutState.self,
      listed: listed, size: .guess(10), programs: ["fflayout"], meaning: meaning)
    // The text of older formats is extracted by way of the last three.
    conversion.leadsOn = result == .pdf || kind == "layout" && [.odt, .ods, .odp].contains(result)
    return conversion
  }
}
