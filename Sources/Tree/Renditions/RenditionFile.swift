internal import Bytes
internal import Conversion

/// A file that is made of another when it is opened.
final class RenditionFile: Item {
  private let file: SourceState
  let recipe: Recipe
  private let conversions: Conversions
  /// For `user.ffmount.view`.
  private let view: String
  /// Of the size, until it is known; in bytes, never 0.
  private let estimate: Int64

  var inode: UInt64 {
    var hash = StableHash()
    hash.combine(recipe.description.utf8)
    return file.inode(Self.mark, hash.value)
  }
  var kind: Kind { .file }
  var isImmutable: Bool { true }

  /// Keeps clear of the numbers of other views of the file.
  private static let mark: UInt64 = 0x6D61_6465 << 32

  init(_ file: SourceState, _ recipe: Recipe, _ conversions: Conversions, view: String, estimate: Int64) {
    self.file = file
    self.recipe = recipe
    self.conversions = conversions
    self.view = view
    self.estimate = max(1, estimate)
  }

  private var work: Job.Work { .make(recipe) }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes {
    try conversions.known.load(patience)
    let size = conversions.known.value(of: work, inState: file.revision)
    var attributes = file.attributes.view(inode: inode, kind: .file, size: size ?? estimate)
    attributes.isPreliminary = !conversions.known.isConfirmed(work, inState: file.revision)
    return attributes
  }

  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    try conversions.renditions.open(recipe, of: file.subject, patience)
  }

  var knownHead: [UInt8]? { FileSignature.head(ofMade: recipe) }

  func checkCurrent() throws(Fault) { try file.checkCurrent() }

  func provenance(_ patience: Patience) throws(Fault) -> Provenance? {
    try conversions.known.load(patience)
    var provenance = file.provenance(
      view: view, conversions.renditions.failure(of: work, inState: file.revision))
    if provenance.state == .exact, conversions.known.value(of: work, inState: file.revision) == nil {
      provenance.state = .estimate
    }
    if provenance.error == nil, let remark = conversions.known.remark(of: work, inState: file.revision) {
      provenance.error = "\(file.path) \(remark)"
    }
    return provenance
  }
}
