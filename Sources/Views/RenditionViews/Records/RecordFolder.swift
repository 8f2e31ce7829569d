internal import Bytes
internal import Catalogue
internal import Cue
internal import Jobs
internal import Locks
internal import Tree

/// The directory of a record's tracks: `01 Title.flac` and so on.
final class RecordFolder: DerivedItem {
  let file: SourceState
  private let place: RecordSheet.Place
  private let conversions: Conversions
  private let files: RecordFiles
  private let known = UnfairLock<State>(State())

  private struct State {
    var sheet: RecordSheet?
    /// The reason why the sheet or its tracks are missing.
    var fault: Fault?
    /// The sheet's names of missing files.
    var missing: Set<String> = []
  }

  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }
  var listsViews: Bool { false }
  // The files beside a sheet can change without a change of the sheet.
  var isImmutable: Bool { file.source.item.isImmutable }

  /// A constant that avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x7472_6163 << 32
  private static let view = "tracks"

  init(_ file: SourceState, _ place: RecordSheet.Place, _ conversions: Conversions) {
    self.file = file
    self.place = place
    self.conversions = conversions
    files = RecordFiles(file, conversions.catalogue)
    identity = StableHash(seed: Self.mark).adding(place == .beside ? 1 : 2).value
    inode = file.inode(Self.mark)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  // MARK: The sheet

  private func sheet(_ blocking: BlockingMode) throws(Fault) -> RecordSheet {
    if let sheet = known.withLock({ $0.sheet }) { return sheet }
    do throws(Fault) {
      let sheet = RecordSheet(try read(blocking))
      known.withLock { ($0.sheet, $0.fault) = (sheet, nil) }
      return sheet
    } catch {
      if !error.isDelay { known.withLock { $0.fault = error } }
      throw error
    }
  }

  private func read(_ blocking: BlockingMode) throws(Fault) -> CueSheet {
    let text: any ByteSource
    switch place {
    case .beside:
      if blocking == .immediate { throw .later }
      text = try file.open(blocking)
    case .inside:
      try conversions.known.load(ofState: file.revision, blocking)
      text = try conversions.renditions.open(Conversion.cueSheet.plainRecipe, of: file.subject, blocking)
    }
    guard text.size <= Int64(CueSheet.longest) else {
      throw Fault(.limit, "is larger than any cue sheet, with \(text.size) bytes")
    }
    guard let sheet = CueSheet(try text.bytes(at: 0, count: Int(text.size), blocking)) else {
      throw Fault(.damaged, "is a cue sheet without tracks of sound")
    }
    return sheet
  }

  // MARK: Tracks

  /// Returns a track's file. Returns `nil` if the sound file that contains it is missing or not a sound file.
  private func track(
    _ number: Int, of sheet: RecordSheet, _ others: inout SiblingSounds?, _ blocking: BlockingMode
  ) throws(Fault) -> RenditionFile? {
    guard let (source, format) = try sound(of: sheet, sheet.sheet.tracks[number].file, &others, blocking),
      let recipe = sheet.recipe(number, of: format)
    else { return nil }
    let size = conversions.catalogue.conversion(recipe.verb)?.size ?? .atMostSource
    return RenditionFile(
      source, recipe, conversions, view: Self.view, estimate: size.estimate(fromFileOf: source.attributes.size))
  }

  private func sound(
    of sheet: RecordSheet, _ number: Int, _ others: inout SiblingSounds?, _ blocking: BlockingMode
  ) throws(Fault) -> (SourceState, Format)? {
    if place == .inside {
      return try conversions.format(of: file.source, blocking).map { (file, $0) }
    }
    let name = sheet.sheet.files[number]
    guard let sound = try files.sound(name, isOnly: sheet.sheet.files.count == 1, &others, blocking) else {
      known.withLock { _ = $0.missing.insert(name) }
      return nil
    }
    let source = Source(
      item: sound, attributes: try sound.attributes(blocking), name: sound.name, folder: file.source.folder)
    guard let format = try conversions.format(of: source, blocking), Conversion.cueSheet.sources.contains(format) else {
      known.withLock { _ = $0.missing.insert(name) }
      return nil
    }
    known.withLock { _ = $0.missing.remove(name) }
    return (SourceState(source), format)
  }

  private func name(_ number: Int, of sheet: RecordSheet, _ file: RenditionFile) -> FileName {
    let result = conversions.catalogue.conversion(file.recipe.verb)?.result
    return FileName(Array(sheet.stems[number].bytes) + Array(".\(result?.extensions.first?.text ?? "")".utf8))
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    let sheet = try sheet(blocking)
    var others: SiblingSounds?
    guard let number = sheet.track(named: name), let track = try track(number, of: sheet, &others, blocking),
      self.name(number, of: sheet, track) == name
    else { return nil }
    return LookupResult(track, try track.attributes(blocking))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    let sheet = try sheet(blocking)
    var rows: [IndexedCursor.Entry] = []
    var others: SiblingSounds?
    for number in sheet.stems.indices {
      guard let track = try track(number, of: sheet, &others, blocking) else { continue }
      rows.append((self.name(number, of: sheet, track), track.inode, .file))
    }
    // An empty listing is reported as a fault.
    let fault = rows.isEmpty ? absence : nil
    known.withLock { $0.fault = fault }
    if let fault { throw fault }
    return IndexedCursor(rows)
  }

  private var absence: Fault {
    let names = known.withLock { $0.missing.sorted() }
    let named = names.prefix(3).joined(separator: ", ") + (names.count > 3 ? " and others" : "")
    return Fault(.unsupported, "names \(named), and no such sound is beside it")
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    let (fault, isWhole) = known.withLock { ($0.fault, $0.missing.isEmpty) }
    var provenance = file.provenance(view: Self.view, fault ?? failure)
    try provenance.adopt(file.source.item.knownProvenance(blocking))
    if provenance.error == nil, !isWhole { provenance.remark = "\(file.path) \(absence.reason)" }
    return provenance
  }

  private var failure: Fault? {
    guard place == .inside else { return nil }
    return conversions.renditions.failure(of: .make(Conversion.cueSheet.plainRecipe), inState: file.revision)
  }
}
