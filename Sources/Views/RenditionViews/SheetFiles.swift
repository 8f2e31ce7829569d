internal import Bytes
internal import Catalogue
internal import Jobs
internal import Text
internal import Tree

/// The contents of the directory of a workbook's sheets: `Umsatz.csv` and so on, in the workbook's order.
struct SheetFiles: DirectoryContents {
  var view: String { "sheets" }
  var key: DirectoryKey { DirectoryKey(family: Self.family, part: 0, identity: Self.family) }
  var job: Job.Work? { .make(.sheets) }

  private static let family: UInt64 = 0x7368_6565 << 32
  private static let ending = Array(".csv".utf8)
  /// The maximum number of sheets that are shown, and the maximum size of their list, in bytes.
  private static let most = (sheets: 65_536, list: 8 << 20)

  func mayHave(_ name: FileName) -> Bool { name.bytes.suffix(Self.ending.count).elementsEqual(Self.ending) }

  func files(of file: SourceState, _ conversions: Conversions, _ blocking: BlockingMode) throws(Fault) -> DerivedFiles {
    let list = try conversions.renditions.open(.sheets, of: file.subject, blocking)
    let names = Self.names(try list.bytes(at: 0, count: Int(min(list.size, Int64(Self.most.list))), blocking))
    let numbers = Dictionary(uniqueKeysWithValues: zip(names, 1...))
    return DerivedFiles(count: names.count) {
      names[$0]
    } recipe: {
      numbers[$0].map { .sheet($0) }
    }
  }

  /// Returns the files' names, which a worker lists, one per line. They are unique.
  private static func names(_ list: [UInt8]) -> [FileName] {
    var names: [FileName] = []
    var taken: Set<FileName> = []
    var numbers: [FileName: Int] = [:]
    for line in list.split(separator: 0x0a, omittingEmptySubsequences: false).dropLast().prefix(most.sheets) {
      let plain = line.map { $0 == 0x2f ? 0x3f : $0 }
      let whole = SafeName.cut(SafeName.safe(plain[...]) + ending, keepingExtensionTo: SafeName.longest)
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
}
