internal import Bytes
internal import Catalogue
internal import Jobs
internal import Text
internal import Tree

/// The directory of a workbook's sheets: `Umsatz.csv` and so on, in the workbook's order.
final class SheetFolder: DerivedItem {
  let file: SourceState
  let inode: UInt64
  var identity: UInt64 { Self.mark }
  var kind: Kind { .folder }
  var listsViews: Bool { false }
  private let conversions: Conversions
  private static let view = "sheets"

  /// A constant that avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x7368_6565 << 32
  private static let ending = Array(".csv".utf8)
  /// The maximum number of sheets that are shown, and the maximum size of their list, in bytes.
  private static let most = (sheets: 65_536, list: 8 << 20)

  init(_ file: SourceState, _ conversions: Conversions) {
    self.file = file
    self.conversions = conversions
    inode = file.inode(Self.mark, 0)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  /// Returns the files' names, which a worker lists, one per line.
  private func names(_ blocking: BlockingMode) throws(Fault) -> [FileName] {
    let list = try conversions.renditions.open(.sheets, of: file.subject, blocking)
    let text = try list.bytes(at: 0, count: Int(min(list.size, Int64(Self.most.list))), blocking)
    var names: [FileName] = []
    var taken: Set<FileName> = []
    var numbers: [FileName: Int] = [:]
    for line in text.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast().prefix(Self.most.sheets) {
      let plain = line.map { $0 == 0x2f ? 0x3f : $0 }
      let whole = SafeName.cut(SafeName.safe(plain[...]) + Self.ending, keepingExtensionTo: SafeName.longest)
      var name = FileName(whole)
      while !taken.insert(name).inserted {
        let number = numbers[FileName(whole), default: 0] + 1
        numbers[FileName(whole)] = number
        name = FileName(SafeName.numbered(whole[...], number))
      }
      names.append(name)
    }
    return names
  }

  private func sheet(_ index: Int) -> RenditionFile {
    RenditionFile(
      file, .sheet(index + 1), conversions, view: Self.view,
      estimate: Conversion.sheet.size.estimate(fromFileOf: file.attributes.size))
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard name.bytes.suffix(Self.ending.count).elementsEqual(Self.ending),
      let index = try names(blocking).firstIndex(of: name)
    else { return nil }
    let sheet = sheet(index)
    return LookupResult(sheet, try sheet.attributes(blocking))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    SheetListing(try names(blocking).enumerated().map { ($1, sheet($0).inode) })
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    var provenance = file.provenance(
      view: Self.view, conversions.renditions.failure(of: .make(.sheets), inState: file.revision))
    try provenance.adopt(file.source.item.provenance(blocking))
    return provenance
  }

  private final class SheetListing: DirectoryCursor {
    private let sheets: [(name: FileName, inode: UInt64)]
    private static let blockSize = 256

    init(_ sheets: [(name: FileName, inode: UInt64)]) { self.sheets = sheets }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      guard place >= 0, place < sheets.count else { return [] }
      return (Int(place)..<min(sheets.count, Int(place) + Self.blockSize)).map { index in
        let sheet = sheets[index]
        return ListedEntry(name: ListedName(sheet.name), inode: sheet.inode, kind: .file, next: Int64(index) + 1)
      }
    }
  }
}
