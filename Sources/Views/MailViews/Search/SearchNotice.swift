internal import Bytes
internal import Tree

/// `INCOMPLETE - 43 % searched.txt`: says that the listing of a query's results is incomplete, and what to do.
final class SearchNotice: DerivedItem {
  private let sorted: SortedMailbox
  private let percent: Int
  let inode: UInt64
  var kind: Kind { .file }
  /// The progress changes, but the content of a file with a given name does not.
  var identity: UInt64 { UInt64(percent) }
  var file: SourceState { sorted.file }

  private static let start = Array("INCOMPLETE - ".utf8)
  private static let end = Array(" % searched.txt".utf8)

  /// `place` identifies the query's directory.
  init(_ sorted: SortedMailbox, _ place: UInt64, percent: Int) {
    self.sorted = sorted
    self.percent = percent
    // Messages have even numbers.
    inode = sorted.file.inode(place, 2 * UInt64(percent) + 1)
  }

  var name: FileName { FileName(Self.start + Array("\(percent)".utf8) + Self.end) }

  /// Returns the percentage in such a name. Returns `nil` for any other.
  static func percent(in name: FileName) -> Int? {
    guard name.bytes.starts(with: start), name.bytes.reversed().starts(with: end.reversed()) else { return nil }
    let number = name.bytes.dropFirst(start.count).dropLast(end.count)
    guard let percent = Int(String(decoding: number, as: UTF8.self)), (0..<100).contains(percent),
      Array("\(percent)".utf8) == Array(number)
    else { return nil }
    return percent
  }

  private var text: [UInt8] {
    Array(
      """
      When this folder was listed, \(percent) % of the messages had been searched: some results may be missing.
      The rest is being searched. List the folder again to see more (ls, or reload it), until this file is gone.
      On the command line, "ffmount search ARCHIVE QUERY" waits until all messages have been searched, and
      "ffmount index --search ARCHIVE" creates the index that makes all later searches fast.

      """.utf8)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    sorted.file.attributes.view(inode: inode, kind: .file, size: Int64(text.count))
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource { ByteArraySource(text) }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    sorted.file.provenance(view: SortedMailbox.view, nil)
  }
}
