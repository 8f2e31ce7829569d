public import Bytes

/// The formats and conversions that there are.
public struct Catalogue: Sendable {
  public let formats: [Format]
  public let conversions: [Conversion]
  private let byVerb: [String: Conversion]
  private let byExtension: [FileExtension: Format]

  /// Of two conversions with one verb, and of two formats with one extension, the first counts. `formats` are recognized in
  /// this order.
  public init(formats: [Format], conversions: [Conversion]) {
    self.formats = formats
    self.conversions = conversions
    byVerb = Dictionary(conversions.map { ($0.verb, $0) }) { first, _ in first }
    byExtension = Dictionary(formats.flatMap { format in format.extensions.map { ($0, format) } }) { first, _ in first }
  }

  /// What the installed programs can do.
  public static let standard = Catalogue(
    formats: Format.documents + Format.images + Format.sounds + Format.films + [.yuv]
      + Format.office + [.doc, .xls, .ppt, .msg, .html, .plainText, .markdown],
    // Recognition before the text that PDFs have of themselves, which it includes; and before both the text of documents
    // that could become PDFs.
    conversions: Conversion.images + Conversion.office + Conversion.layouts + Conversion.texts + Conversion.scans
      + Conversion.documents + Conversion.sounds + [.waveform] + Conversion.records + Conversion.joined
      + Conversion.films + Conversion.archives + Conversion.stores)

  /// This one and more.
  public func adding(formats: [Format] = [], conversions: [Conversion]) -> Catalogue {
    Catalogue(formats: self.formats + formats, conversions: self.conversions + conversions)
  }

  /// Only what some worker program is there for.
  public func limited(toPrograms isThere: (String) -> Bool) -> Catalogue {
    Catalogue(formats: formats, conversions: conversions.filter { $0.programs.contains(where: isThere) })
  }

  public func conversion(_ verb: String) -> Conversion? { byVerb[verb] }

  /// The format that files of a name have, as far as that says.
  public func format(named fileExtension: FileExtension) -> Format? { byExtension[fileExtension] }

  /// The format of a file that starts with these bytes; nil if none is recognized.
  public func format(startingWith head: ArraySlice<UInt8>) -> Format? { formats.first { $0.isSignature(head) } }

  /// For files in a folder with some extensions, the conversions before the one that makes a document of the folder, as far as
  /// they are there.
  public func indirectSteps(to last: Conversion) -> [FileExtension: [Conversion]] {
    var steps: [FileExtension: [Conversion]] = [:]
    for format in last.indirectSources {
      guard let chain = chain(from: format, to: last) else { continue }
      for name in format.extensions { steps[name] = chain.dropLast() }
    }
    return steps
  }

  /// The shortest sequence of conversions with which `source` becomes what `last` makes, `last` included; nil if there is
  /// none, or it would take more than three. O(conversions²).
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
