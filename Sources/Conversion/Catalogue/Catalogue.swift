public import Bytes

/// The supported formats and conversions.
public struct Catalogue: Sendable {
  public let formats: [Format]
  public let conversions: [Conversion]
  private let byVerb: [String: Conversion]
  private let byExtension: [FileExtension: Format]

  /// Creates a catalogue. Formats are recognized in the order of `formats`. If two conversions share a verb, or two
  /// formats an extension, the first one is used.
  public init(formats: [Format], conversions: [Conversion]) {
    self.formats = formats
    self.conversions = conversions
    byVerb = Dictionary(conversions.map { ($0.verb, $0) }) { first, _ in first }
    byExtension = Dictionary(formats.flatMap { format in format.extensions.map { ($0, format) } }) { first, _ in first }
  }

  /// All conversions that the worker programs support.
  public static let standard = Catalogue(
    formats: Format.documents + Format.images + Format.sounds + Format.films + [.yuv]
      + Format.office + [.doc, .xls, .ppt, .msg, .html, .plainText, .markdown],
    // Recognition precedes the extraction of a PDF's own text, which it includes. Both follow the text of documents
    // that could become PDFs.
    conversions: Conversion.images + Conversion.office + Conversion.layouts + Conversion.texts + Conversion.scans
      + Conversion.documents + Conversion.sounds + [.waveform] + Conversion.records + Conversion.joined
      + Conversion.films + Conversion.tags + Conversion.archives + Conversion.disks + Conversion.stores)

  /// Returns a catalogue with additional formats and conversions.
  public func adding(formats: [Format] = [], conversions: [Conversion]) -> Catalogue {
    Catalogue(formats: self.formats + formats, conversions: self.conversions + conversions)
  }

  /// Returns a catalogue of the conversions that available worker programs implement.
  public func limited(toPrograms isThere: (String) -> Bool) -> Catalogue {
    Catalogue(formats: formats, conversions: conversions.compactMap { $0.limited(toPrograms: isThere) })
  }

  public func conversion(_ verb: String) -> Conversion? { byVerb[verb] }

  /// Returns the format that an extension stands for. Returns `nil` if the extension is unknown.
  public func format(named fileExtension: FileExtension) -> Format? { byExtension[fileExtension] }

  /// Returns the format of a file that starts with these bytes. Returns `nil` if none is recognized.
  public func format(startingWith head: ArraySlice<UInt8>) -> Format? { formats.first { $0.isSignature(head) } }

  /// Returns, by extension, the conversions that a file in a directory needs before `last` can merge it with the
  /// others. Extensions without such a chain are omitted.
  public func indirectSteps(to last: Conversion) -> [FileExtension: [Conversion]] {
    var steps: [FileExtension: [Conversion]] = [:]
    for format in last.indirectSources {
      guard let chain = chain(from: format, to: last) else { continue }
      for name in format.extensions { steps[name] = chain.dropLast() }
    }
    return steps
  }

  /// Returns the shortest sequence of conversions, ending with `last`, that converts `source` to the result of `last`.
  /// Returns `nil` if no sequence of at most three conversions exists. O(conversions²).
  public func chain(from source: Format, to last: Conversion) -> [Conversion]? {
    if last.isDirect { return last.sources.contains(source) ? [last] : nil }
    var found: [[Conversion]] = [[last]]
    var seen: Set<String> = [last.verb]
    for _ in 0..<3 {
      if let chain = found.first(where: { $0[0].sources.contains(source) }) { return chain }
      found = found.flatMap { chain in
        conversions.filter { step in
          step.leadsOn && step.result != source && chain[0].sources.contains(step.result)
            && seen.insert(step.verb).inserted
        }.map { [$0] + chain }
      }
    }
    return nil
  }
}
