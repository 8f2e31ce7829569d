internal import Bytes
internal import Catalogue
internal import Files
internal import Jobs
internal import Tree

/// The bytes of a scan with the recognized text of each of its pages, as one input of the converter.
///
/// Each page is a job of its own, so that several are recognized at a time, and its text is kept for all conversions of
/// the scan.
final class PagedScan: GatheredSource {
  private let bytes: any ByteSource
  private let file: SourceState
  private let languages: ReadingLanguages
  private let verb: String
  private let conversions: Conversions
  private let place: GatheringPlace

  init(
    _ bytes: any ByteSource, of file: SourceState, _ languages: ReadingLanguages, pageVerb verb: String,
    _ conversions: Conversions, _ place: GatheringPlace
  ) {
    (self.bytes, self.file, self.languages, self.verb) = (bytes, file, languages, verb)
    (self.conversions, self.place) = (conversions, place)
  }

  var size: Int64 { bytes.size }
  var identity: ByteIdentity? { bytes.identity }
  var isSettling: Bool { bytes.isSettling }
  func verify() throws(Fault) { try bytes.verify() }

  func gather() throws(Fault) -> any ByteSource {
    let texts = Recipe(verb: Conversion.pageTexts.verb)
    let list: ConversionResult
    do throws(Fault) { list = try conversions.renditions.open(texts, of: file.subject, .blocking) } catch {
      guard error.isLasting || error.kind == .locked else { throw error }
      // The conversion reports the reason, or does without.
      return bytes
    }
    let gathering = try place.gathering { () throws(Fault) in
      var members = [FileGroup.Member(name: file.source.name, item: file.source.item, attributes: file.attributes)]
      func add(_ name: String, _ recipe: Recipe) throws(Fault) {
        let item = RenditionFile(file, recipe, conversions, view: "pages", isListed: false, estimate: 1)
        members.append(FileGroup.Member(name: FileName(name), item: item, attributes: try item.attributes(.blocking)))
      }
      try add("texts", texts)
      let pages = PageTexts(try list.bytes(at: 0, count: Int(min(list.size, PageTexts.longest))))?.pages ?? []
      for (index, page) in pages.enumerated() where page.text == nil {
        try add("\(index + 1)", Recipe(verb: verb, PageRecognition(page: index + 1, languages)))
      }
      // A page that cannot be recognized is tried again by the conversion, which reports the reason.
      return try Gathering(
        members, in: conversions.renditions.spool(), width: conversions.renditions.width, replacesFailures: true)
    }
    // The file's own identity: its passwords are part of the name in the cache.
    return try gathering.gather { [self] in identity }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    unsafe try bytes.read(into: buffer, at: offset, blocking)
  }
}

extension Conversions {
  /// Returns a file as the subject of a recipe, with its pages if the conversion is made from them.
  func subject(
    of file: SourceState, for recipe: Recipe, _ place: GatheringPlace
  ) -> ConversionService.Subject {
    let subject = file.subject
    guard let verb = catalogue.conversion(recipe.verb)?.pageVerb, catalogue.conversion(verb) != nil,
      let languages = recipe.arguments.flatMap({ ReadingLanguages($0[...]) })
    else { return subject }
    return ConversionService.Subject(
      revision: file.revision, owner: subject.owner, path: { file.path },
      open: { [self] (blocking) throws(Fault) in
        PagedScan(try file.open(blocking), of: file, languages, pageVerb: verb, self, place)
      })
  }
}
