internal import Bytes
internal import Catalogue
internal import Files
internal import Jobs
internal import Locks
internal import Threads
internal import Tree

/// The files of a directory one after the other in a temporary file, which are added as their conversions complete.
///
/// Its waiters retain it and need neither a thread nor a worker: a waiting job would occupy the worker that the other
/// job needs. After the last waiter has left, it is released, and the work on missing files is cancelled.
final class Gathering: Sendable {
  private let members: [FileGroup.Member]
  private let file: TemporaryFile
  /// The maximum number of concurrent conversions.
  private let width: Int
  /// Whether a file that cannot be converted is replaced by the reason, which the document can state.
  private let replacesFailures: Bool
  /// The lock for adding files. Lock order: before `state`.
  private let turn = CancellableLock()
  private let state = UnfairLock(State())

  private struct State {
    /// The sizes of the files that have been added.
    var sizes: [Int64] = []
    var end: Int64
    /// Whether a file has been replaced by the reason why it cannot be converted.
    var lacksFiles = false
    /// The conversion that the waiters need, and the operation that reports its completion to them.
    var awaited: (made: SharedOperation, token: Int)?
    weak var told: SharedOperation?
    /// The conversions of later files, by index.
    var ahead: [Int: (made: SharedOperation, token: Int)] = [:]

    init() { end = 0 }
  }

  /// The maximum size of all files together, in bytes.
  private static let mostBytes: Int64 = 4 << 30

  init(
    _ members: [FileGroup.Member], in file: TemporaryFile, width: Int, replacesFailures: Bool
  ) throws(Fault) {
    self.members = members
    self.replacesFailures = replacesFailures
    self.file = file
    self.width = width
    let list = Self.list(members, sizes: members.map { _ in 0 })
    guard list.count <= Bundle.longestList else { throw .longList }
    state.withLock { $0.end = Int64(list.count) }
  }

  deinit { cancel() }

  private static func list(_ members: [FileGroup.Member], sizes: [Int64]) -> [UInt8] {
    Bundle(zip(members, sizes).map { Bundle.Member(name: $0.name.text, size: $1) }).list
  }

  /// Returns all files. Throws `pending` until they are complete. Blocks while they are copied.
  func gather(as identity: () -> ByteIdentity?) throws(Fault) -> ConversionResult {
    try turn.lock()
    defer { turn.unlock() }
    while true {
      let index = state.withLock { $0.sizes.count }
      guard index < members.count else { break }
      do throws(Fault) { try append(members[index].open(.blocking)) } catch {
        if let made = error.pending { throw Fault(.pending(wait(for: made, at: index))) }
        guard replacesFailures, error.isLasting else { throw error }
        try append(ByteArraySource(Bundle.failureMark + error.description.utf8.prefix(Bundle.longestReason)))
        state.withLock { $0.lacksFiles = true }
      }
      state.withLock { $0.ahead[index] = nil }
    }
    let (sizes, end, lacksFiles) = state.withLock { ($0.sizes, $0.end, $0.lacksFiles) }
    try file.write(Self.list(members, sizes: sizes), at: 0)
    // A later conversion of the missing files can succeed.
    return ConversionResult(file, size: end, identity: lacksFiles ? nil : identity())
  }

  private func append(_ source: any ByteSource) throws(Fault) {
    let place = state.withLock { $0.end }
    guard source.size <= Self.mostBytes - place else {
      throw Fault(.limit, "the files have more than \(Self.mostBytes >> 30) GiB in all")
    }
    try source.copy(to: file, at: place)
    try source.verify()
    state.withLock { state in
      state.sizes.append(source.size)
      state.end += source.size
    }
  }

  /// Returns an operation that ends when `made` ends, or when the last waiter has left.
  private func wait(for made: SharedOperation, at index: Int) -> SharedOperation {
    let known = state.withLock { $0.awaited?.made === made ? $0.told : nil }
    if let known { return known }
    let told = SharedOperation { [self] in cancel() }
    state.withLock { state in
      state.told = told
      state.awaited = nil
    }
    let token = made.whenDone { told.finish(with: self) }
    state.withLock { $0.awaited = (made, token) }
    for later in members.indices[(index + 1)...].lazy.filter({ [self] in members[$0].item is RenditionFile })
      .prefix(max(0, width - 1))
    {
      beginAhead(later)
    }
    return told
  }

  private func beginAhead(_ index: Int) {
    if state.withLock({ $0.ahead[index] != nil }) { return }
    // A failure is reported when the file is reached.
    do throws(Fault) { _ = try members[index].open(.blocking) } catch {
      guard let made = error.pending else { return }
      let token = made.whenDone {}
      state.withLock { $0.ahead[index] = (made, token) }
    }
  }

  private func cancel() {
    let (waits, told) = state.withLock { state in
      defer { (state.awaited, state.ahead) = (nil, [:]) }
      return ([state.awaited].compactMap(\.self) + state.ahead.values, state.told)
    }
    for wait in waits { wait.made.cancel(wait.token) }
    // A caller that arrived at this moment starts again.
    told?.finish()
  }
}

extension Fault {
  /// Whether the cause is the file's content, and neither permission nor a password.
  var isLasting: Bool {
    switch kind {
    case .damaged, .unsupported, .limit: true
    default: false
    }
  }

  static let longList = Fault(.limit, "the names of the files are longer than \(Bundle.longestList >> 20) MiB in all")
}
