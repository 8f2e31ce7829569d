internal import Bytes
internal import Catalogue
internal import Synchronization
internal import Tree

/// The files that a sheet names: those beside it, and no others.
final class RecordFiles: Sendable {
  private let sheet: SourceState
  private let catalogue: Catalogue
  /// What a file is called that is not called as the sheet says.
  private let found = Mutex<[String: FileName]>([:])

  init(_ sheet: SourceState, _ catalogue: Catalogue) {
    self.sheet = sheet
    self.catalogue = catalogue
  }

  /// A file of the sheet's; nil if there is none. May list the folder: then it is not for who is impatient.
  ///
  /// People convert the file and keep the sheet: one of another extension or case is taken for it, and where the sheet
  /// names one file, one that is called as the sheet itself.
  ///
  /// - Parameters:
  ///   - isOnly: whether the sheet names no other.
  ///   - others: the folder's, once they have been looked for.
  func sound(
    _ name: String, isOnly: Bool, _ others: inout SiblingSounds?, _ patience: Patience
  ) throws(Fault) -> RecordSound? {
    guard Self.isSibling(name) else { return nil }
    let folder = sheet.source.folder.item
    if let exact = try FileGroup.member(named: FileName(name), in: folder, patience) {
      return try RecordSound(exact, sheet, isFound: false)
    }
    if patience == .immediate { throw .later }
    if let known = found.withLock({ $0[name] }), let file = try FileGroup.member(named: known, in: folder, patience) {
      return try RecordSound(file, sheet, isFound: true)
    }
    let all = if let others { others } else { try SiblingSounds(in: folder, catalogue, patience) }
    others = all
    guard let other = all.file(like: name) ?? (isOnly ? all.file(called: sheet.source.name.text) : nil),
      let file = try FileGroup.member(named: other, in: folder, patience)
    else { return nil }
    found.withLock { $0[name] = other }
    return try RecordSound(file, sheet, isFound: true)
  }

  /// Whether a name is that of something in the same folder.
  private static func isSibling(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 255 && name != "." && name != ".."
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }
}

/// The files of a folder that are sound by their names, to be found by names that are nearly theirs.
struct SiblingSounds {
  private var byName: [String: FileName] = [:]
  private var byStem: [String: (order: Int, name: FileName)] = [:]

  /// More names are not looked at.
  private static let mostNames = 100_000

  /// Lists the folder. Blocks.
  init(in folder: any Item, _ catalogue: Catalogue, _ patience: Patience) throws(Fault) {
    let listing = try folder.listing(patience)
    var place: Int64 = 0
    var count = 0
    while count < Self.mostNames {
      try Interest.check()
      let entries = try listing.entries(after: place, patience)
      guard let last = entries.last else { break }
      place = last.next
      count += entries.count
      for entry in entries {
        guard let format = entry.name.fileExtension.flatMap(catalogue.format(named:)),
          // What loses nothing comes first.
          let order = Format.sounds.firstIndex(of: format)
        else { continue }
        add(entry.name.fileName, order)
      }
    }
  }

  private mutating func add(_ name: FileName, _ order: Int) {
    let text = name.text.lowercased()
    if byName[text].map({ name.text < $0.text }) ?? true { byName[text] = name }
    let stem = Self.stem(text)
    if let known = byStem[stem], (known.order, known.name.text) <= (order, name.text) { return }
    byStem[stem] = (order, name)
  }

  private static func stem(_ name: String) -> String { String(name[..<(name.lastIndex(of: ".") ?? name.endIndex)]) }

  /// One whose name differs in case, in how its letters are coded, or in its extension.
  func file(like name: String) -> FileName? { byName[name.lowercased()] ?? file(called: name) }

  /// One of the same name but for its extension.
  func file(called name: String) -> FileName? { byStem[Self.stem(name.lowercased())]?.name }
}
