internal import Bytes
internal import Catalogue
internal import Jobs
internal import Locks
internal import Tree

/// The bytes of several files as one input of the converter. Some of the files are converted from others first.
final class GatheredBundle: GatheredSource {
  private let members: [FileGroup.Member]
  private let renditions: ConversionService
  private let place: GatheringPlace
  private let replacesFailures: Bool
  let identity: ByteIdentity?
  let isSettling: Bool
  let size: Int64

  /// - Parameters:
  ///   - members: The files in the form in which they are merged into the document.
  ///   - sources: The sources of the files. Each is opened once. Blocks.
  ///   - replacesFailures: Whether a file that cannot be converted is replaced by the reason.
  init(
    _ members: [FileGroup.Member], of sources: [Source], _ renditions: ConversionService,
    _ place: GatheringPlace, replacesFailures: Bool
  ) throws(Fault) {
    self.replacesFailures = replacesFailures
    self.members = members
    self.renditions = renditions
    self.place = place
    var parts: [(name: FileName, identity: ByteIdentity)] = []
    var isSettling = false
    for (member, source) in zip(members, sources) {
      try CancellationToken.check()
      let bytes: any ByteSource
      do throws(Fault) { bytes = try source.open(.blocking) } catch {
        // Reported when the file is reached: `Gathering` replaces the file, or reports why that is not possible.
        guard error.isLasting || error.kind == .locked else { throw error }
        continue
      }
      isSettling = isSettling || bytes.isSettling
      guard let identity = bytes.identity else { continue }
      let recipes = (member.item as? RenditionFile)?.recipes ?? []
      parts.append((member.name, recipes.reduce(identity) { $0.converted(by: $1) }))
    }
    self.isSettling = isSettling
    identity = parts.count == members.count ? ByteIdentity(bundling: parts) : nil
    size = members.reduce(0) { Bounds.sum($0, $1.attributes.size) }
  }

  func gather() throws(Fault) -> any ByteSource {
    let gathering = try place.gathering { () throws(Fault) in
      try Gathering(
        members, in: renditions.spool(), width: renditions.width, replacesFailures: replacesFailures)
    }
    return try gathering.gather { [self] in
      // A result that required a password must not be found by other users.
      members.contains { ($0.item as? RenditionFile)?.isProtected ?? false } ? nil : identity
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard blocking == .blocking else { throw .later }
    return unsafe try gather().read(into: buffer, at: offset, blocking)
  }
}

/// The shared reference to the gathering in progress, for all clients of the same directory.
final class GatheringPlace: Sendable {
  private struct State {
    weak var gathering: Gathering?
  }

  private let state = UnfairLock(State())

  func gathering(_ make: () throws(Fault) -> Gathering) throws(Fault) -> Gathering {
    if let known = state.withLock({ $0.gathering }) { return known }
    let made = try make()
    return state.withLock { state in
      if let known = state.gathering { return known }
      state.gathering = made
      return made
    }
  }
}

extension RenditionFile {
  /// The recipes from the original file to this one, in order.
  fileprivate var recipes: [Recipe] { ((file.source.item as? RenditionFile)?.recipes ?? []) + [recipe] }
}
