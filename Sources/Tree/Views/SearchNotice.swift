package import Bytes

/// `INCOMPLETE - 43 % searched.txt`: says that a listing of results is incomplete, and what to do.
package final class SearchNotice: DerivedItem {
  /// The object of the search, as the sentences name it.
  package struct Subject: Sendable {
    /// The things, such as `messages`, and the argument of the commands.
    let things: String
    let argument: String

    package init(things: String, argument: String) { (self.things, self.argument) = (things, argument) }
  }

  package let file: SourceState
  package let inode: UInt64
  /// The progress changes, but the content of a file with a given name does not.
  package let identity: UInt64
  package var kind: Kind { .file }
  private let subject: Subject
  private let percent: Int
  private let view: String
  /// The only user that may read it. `nil` for those of the source.
  private let owner: (user: UInt32, group: UInt32)?

  private static let start = Array("INCOMPLETE - ".utf8)
  private static let end = Array(" % searched.txt".utf8)

  package init(
    _ subject: Subject, percent: Int, of file: SourceState, view: String, inode: UInt64,
    owner: (user: UInt32, group: UInt32)? = nil
  ) {
    (self.subject, self.percent, self.file, self.view) = (subject, percent, file, view)
    (self.inode, self.owner) = (inode, owner)
    let hash = StableHash(seed: UInt64(percent))
    identity = owner.map { hash.adding(UInt64($0.user) << 32 | UInt64($0.group)).value } ?? UInt64(percent)
  }

  package var name: FileName { FileName(Self.start + Array("\(percent)".utf8) + Self.end) }

  /// Returns the percentage in such a name. Returns `nil` for any other.
  package static func percent(in name: FileName) -> Int? {
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
      When this folder was listed, \(percent) % of the \(subject.things) had been searched: some results may be missing.
      The rest is being searched. List the folder again to see more (ls, or reload it), until this file is gone.
      On the command line, "ffmount search \(subject.argument) QUERY" waits until all \(subject.things) have been searched, and
      "ffmount index --search \(subject.argument)" creates the index that makes all later searches fast.

      """.utf8)
  }

  package func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    var attributes = file.attributes.view(inode: inode, kind: .file, size: Int64(text.count))
    if let owner {
      (attributes.owner, attributes.group, attributes.permissions) = (owner.user, owner.group, 0o400)
    }
    return attributes
  }

  package func accessList() throws(Fault) -> AccessList? { owner == nil ? try file.accessList(kind) : nil }

  package func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource { ByteArraySource(text) }

  package func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    file.provenance(view: view, nil)
  }
}
