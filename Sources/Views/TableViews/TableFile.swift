internal import Bytes
internal import Jobs
internal import Locks
internal import Tables
internal import Tree

/// A table, JSON, a calendar or cards in another format, generated as it is read.
final class TableFile: DerivedItem {
  let file: SourceState
  private let form: TableForm
  private let content: TableForm.Content
  /// The value of `user.ffmount.view`.
  private let view: String
  private let known: ResultSizes
  private let memory: RewrittenText.Memory
  /// The text while it has readers.
  private let opened = UnfairLock(Opened())

  private struct Opened: Sendable {
    weak var text: RewrittenText?
    /// The text while its size is determined, which takes several requests.
    var unfinished: RewrittenText?
  }

  private var hash: StableHash {
    var hash = StableHash()
    hash.combine(form.rawValue.utf8)
    return hash
  }
  var inode: UInt64 { file.inode(Self.mark, hash.value) }
  var identity: UInt64 { hash.adding(file.revision).value }
  var kind: Kind { .file }

  /// A constant that avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x7461_626C << 32
  /// The maximum size of a source whose text's size is determined on opening. The first bytes of larger sources are
  /// available at once.
  private static let promptSource: Int64 = 32 << 20
  private static let promptText: Int64 = 128 << 20
  /// The maximum growth factor of the text, so that a program that relies on the size never truncates it. An empty cell
  /// becomes a column; a bracket becomes a line with its indent.
  private var growth: Int64 { form == .html ? 16 : 66 }

  init(
    _ file: SourceState, _ form: TableForm, _ content: TableForm.Content, view: String, _ known: ResultSizes,
    _ memory: RewrittenText.Memory
  ) {
    self.file = file
    self.form = form
    self.content = content
    self.view = view
    self.known = known
    self.memory = memory
  }

  /// The key under which the size is stored.
  private var work: String { "table \(form.rawValue) \(TableForm.version)" }

  private var guess: Int64 { Bounds.size(file.attributes.size * growth + 4096) }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    if file.source.isConcealed {
      var attributes = file.attributes.view(inode: inode, kind: .file, size: guess)
      attributes.isPreliminary = true
      return attributes
    }
    try known.load(ofState: file.revision, blocking)
    let size = known.known(work, inState: file.revision)
    var attributes = file.attributes.view(
      inode: inode, kind: .file, size: size?.number ?? opened.withLock { $0.text?.size } ?? guess)
    attributes.isPreliminary = !(size?.isConfirmed ?? false)
    return attributes
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    let text = try text(blocking)
    guard file.attributes.size <= Self.promptSource else { return text }
    do throws(Fault) { _ = try text.findSize(within: Self.promptText, blocking) } catch {
      opened.withLock { $0.unfinished = error.isDelay ? text : nil }
      throw error
    }
    opened.withLock { $0.unfinished = nil }
    return text
  }

  func findSize(atAnyCost: Bool, _ blocking: BlockingMode) throws(Fault) {
    guard atAnyCost || file.attributes.size <= Self.promptSource else { return }
    let text = try text(blocking)
    do throws(Fault) { try text.findSize(blocking) } catch {
      opened.withLock { $0.unfinished = error.isDelay ? text : nil }
      throw error
    }
  }

  private func text(_ blocking: BlockingMode) throws(Fault) -> RewrittenText {
    if let text = opened.withLock({ $0.text }) { return text }
    guard blocking == .blocking else { throw .later }
    let source = try file.open(blocking)
    let isLasting = source.identity != nil
    let made = try form.text(
      of: source, content, title: file.source.name.text, guess: guess, memory: memory
    ) { [known, work, revision = file.revision] size in
      known.note(size, of: work, inState: revision, isLasting: isLasting)
    }
    return opened.withLock { opened in
      // Another thread may have been first.
      if let text = opened.text { return text }
      opened.text = made
      return made
    }
  }

  var knownHead: [UInt8]? { [] }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try known.load(ofState: file.revision, blocking)
    var provenance = file.provenance(view: view, opened.withLock { $0.text?.fault })
    if provenance.error == nil, known.known(work, inState: file.revision) == nil { provenance.state = .estimate }
    return provenance
  }
}
