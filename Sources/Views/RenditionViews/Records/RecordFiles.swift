internal import Bytes
internal import Catalogue
internal import Locks
internal import Tree

/// The files that a sheet refers to. They have to be in the sheet's directory.
final class RecordFiles: Sendable {
  private let sheet: SourceState
  private let catalogue: Catalogue
  /// The actual names of files whose names differ from those in the sheet.
  private let found = UnfairLock<[String: FileName]>([:])

  init(_ sheet: SourceState, _ catalogue: Catalogue) {
    self.sheet = sheet
    self.catalogue = catalogue
  }

  /// Returns a file of the sheet. Returns `nil` if it does not exist. Throws `later` if the directory has to be listed
  /// and blocking is forbidden.
  ///
  /// Users convert the file and keep the sheet, so a file with another extension or case matches. If the sheet refers
  /// to one file, a file with the sheet's own name matches, too.
  ///
  /// - Parameters:
  ///   - isOnly: Whether the sheet refers to no other file.
  ///   - others: The sound files of the directory, if it has been listed.
  func sound(
    _ name: String, isOnly: Bool, _ others: inout SiblingSounds?, _ blocking: BlockingMode
  ) throws(Fault) -> RecordSound? {
    guard Self.isSibling(name) else { return nil }
    let folder = sheet.source.folder.item
    if let exact = try FileGroup.member(named: FileName(name), in: folder, blocking) {
      return try RecordSound(exact, sheet, isFound: false)
    }
    if blocking == .immediate { throw .later }
    if let known = found.withLock({ $0[name] }), let file = try FileGroup.member(named: known, in: folder, blocking) {
      return try RecordSound(file, sheet, isFound: true)
    }
    let all = if let others { others } else { try SiblingSounds(in: folder, catalogue, blocking) }
    others = all
    guard let other = all.file(like: name) ?? (isOnly ? all.file(called: sheet.source.name.text) : nil),
      let file = try FileGroup.member(named: other, in: folder, blocking)
    else { return nil }
    found.withLock { $0[name] = other }
    return try RecordSound(file, sheet, isFound: true)
  }

  /// Returns whether a name is that of an entry of the same directory.
  private static func isSibling(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 255 && name != "." && name != ".."
      && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
  }
}

/// The files of a directory that are sound by their names, to be found by approximate names.
struct SiblingSounds {
  private var byName: [String: FileName] = [:]
  private var byStem: [String: (order: Int, name: FileName)] = [:]

  /// The maximum number of names to examine.
  private static let mostNames = 100_000

  /// Lists the directory. Blocks.
  init(in folder: any Item, _ catalogue: Catalogue, _ blocking: BlockingMode) throws(Fault) {
    let listing = try folder.listing(blocking)
    var place: Int64 = 0
    var count = 0
    while count < Self.mostNames {
      try CancellationToken.check()
      let entries = try listing.entries(after: place, blocking)
      guard let last = entries.last else { break }
      place = last.next
      count += entries.count
      for entry in entries {
        guard let format = entry.name.fileExtension.flatMap(catalogue.format(named:)),
          // Lossless formats come first.
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

  /// Returns a file whose name differs in case, in Unicode normalization, or in its extension.
  func file(like name: String) -> FileName? { byName[name.lowercased()] ?? file(called: name) }

  /// Returns a file whose name differs only in its extension.
  func file(called name: String) -> FileName? { byStem[Self.stem(name.lowercased())]?.name }
}
