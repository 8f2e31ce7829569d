internal import Bytes
internal import Catalogue
internal import Jobs
internal import Tree

/// A file that is converted from another when it is opened.
final class RenditionFile: DerivedItem {
  let file: SourceState
  let recipe: Recipe
  private let conversions: Conversions
  /// The value of `user.ffmount.view`.
  private let view: String
  /// Whether a listing of the directory shows the file.
  private let isListed: Bool
  /// The estimated size until the size is known, in bytes. Never 0.
  private let estimate: Int64
  /// A function that is called on each open.
  private let noteOpening: (@Sendable () -> Void)?
  private let gathering = GatheringPlace()
  private var subject: ConversionService.Subject { conversions.subject(of: file, for: recipe, gathering) }

  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .file }

  /// A constant that avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x6D61_6465 << 32

  /// - Parameter place: the identity of the directory, and the file's index in it, if the inode numbers of its files follow
  ///   the order in which they are listed.
  init(
    _ file: SourceState, _ recipe: Recipe, _ conversions: Conversions, view: String, isListed: Bool = true,
    estimate: Int64, place: (directory: UInt64, index: Int)? = nil, noteOpening: (@Sendable () -> Void)? = nil
  ) {
    self.file = file
    self.recipe = recipe
    self.conversions = conversions
    self.view = view
    self.isListed = isListed
    self.estimate = max(1, estimate)
    self.noteOpening = noteOpening
    var hash = StableHash()
    hash.combine(recipe.description.utf8)
    inode =
      if let place { file.inode(Self.mark ^ place.directory, UInt64(truncatingIfNeeded: place.index)) } else {
        file.inode(Self.mark, hash.value)
      }
    identity = hash.adding(file.revision).value
  }

  private var work: Job.Work { .make(recipe) }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    let size = try knownSize(blocking)
    var attributes = file.attributes.view(inode: inode, kind: .file, size: size?.number ?? estimate)
    attributes.isPreliminary = !(size?.isConfirmed ?? false)
    return attributes
  }

  /// Returns the size. Returns `nil` if it is unknown or the source is unreadable for the caller.
  private func knownSize(_ blocking: BlockingMode) throws(Fault) -> ResultSizes.Value? {
    if file.source.isConcealed { return nil }
    try conversions.known.load(ofState: file.revision, blocking)
    if let made = conversions.known.known(work, inState: file.revision) { return made }
    let measured = conversions.known.known(.measure(recipe), inState: file.revision)
    return measured?.number == JobAnswer.unmeasured ? nil : measured
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    defer { noteOpening?() }
    return try conversions.renditions.open(recipe, of: subject, blocking)
  }

  func openEarly(_ isPatient: @Sendable () -> Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    defer { noteOpening?() }
    return try conversions.renditions.openEarly(
      recipe, of: subject, guess: estimate, isPatient: isPatient, blocking)
  }

  func measureSize(_ blocking: BlockingMode) throws(Fault) {
    if !isListed { _ = try conversions.renditions.measure(recipe, of: file.subject, blocking) }
  }

  /// Determines the size. A film is not converted for that unless `atAnyCost`, because it takes as long as watching a
  /// part of it.
  func findSize(atAnyCost: Bool, _ blocking: BlockingMode) throws(Fault) {
    if try conversions.renditions.measure(recipe, of: file.subject, blocking) != nil { return }
    let conversion = conversions.catalogue.conversion(recipe.verb)
    if !atAnyCost, conversion?.making == .growing, conversion?.result.family == .film { return }
    _ = try conversions.renditions.open(recipe, of: subject, blocking)
  }

  /// Whether the conversion required a password.
  var isProtected: Bool {
    conversions.renditions.isProtected(file.subject) || (file.source.item as? RenditionFile)?.isProtected ?? false
  }

  func soleOwner(_ attributes: Attributes) -> UInt32? { file.subject.owner }

  /// The first bytes of the file. Nil for a table, which is recognized only by its name.
  var knownHead: [UInt8]? {
    let result = conversions.catalogue.conversion(recipe.verb)?.result
    return result?.family == .table ? nil : result?.head
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try conversions.known.load(ofState: file.revision, blocking)
    var provenance = file.provenance(
      view: view, conversions.renditions.failure(of: work, inState: file.revision))
    try provenance.adopt(file.source.item.knownProvenance(blocking))
    if provenance.state == .exact, try knownSize(blocking) == nil {
      provenance.state = .estimate
    }
    provenance.adopt(conversions.known.remark(of: work, inState: file.revision), on: file.path)
    return provenance
  }
}

extension Provenance {
  /// Adopts a converter's remark on a file, unless there is an error.
  mutating func adopt(_ remark: String?, on path: String) {
    guard error == nil, let remark else { return }
    let (text, completeness) = JobAnswer.shown(remark)
    self.remark = "\(path) \(text)"
    switch completeness {
    case .incomplete: state = .failed
    case .unknown where state == .exact: state = .unverified
    case .unknown, .complete: break
    }
  }
}
