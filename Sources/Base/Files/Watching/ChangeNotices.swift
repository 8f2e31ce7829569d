public import Bytes
internal import CPosix
internal import Glibc
internal import Locks

/// The changes of files in watched directories, as reported by inotify(7).
///
/// Notices are available before the call that changes a file returns. Changes by other machines, or through another
/// name of the file elsewhere, are not reported. One descriptor serves the process.
public final class ChangeNotices: Sendable {
  public static let shared = ChangeNotices()

  private struct Reference: Sendable {
    weak var watch: ChangeWatch?
  }

  private struct State: ~Copyable {
    /// The inotify descriptor. Nil before the first directory is watched, or if that is not possible.
    var descriptor: Descriptor?
    /// The watches by the kernel's number. All watches of one directory have the same number.
    var watches: [Int32: [ObjectIdentifier: Reference]] = [:]
  }

  private let state = UnfairLock(State())

  private static let noticesLength = 64 << 10
  /// The size of struct inotify_event, in bytes.
  private static let headLength = 16

  /// Starts to watch the files of an open directory and records later changes. Returns `nil` if that is not possible.
  public func watch(_ folder: Int32) -> ChangeWatch? {
    state.withLock { state in
      if state.descriptor == nil {
        let made = inotify_init1(Int32(IN_CLOEXEC | IN_NONBLOCK))
        guard made >= 0 else { return nil }
        state.descriptor = Descriptor(owning: made)
      }
      guard let raw = state.descriptor?.raw else { return nil }
      let mask = UInt32(IN_ATTRIB) | UInt32(IN_MODIFY) | UInt32(IN_ONLYDIR) | UInt32(IN_EXCL_UNLINK)
      let number = unsafe inotify_add_watch(raw, "/proc/self/fd/\(folder)", mask)
      guard number >= 0 else { return nil }
      let watch = ChangeWatch(number, of: self)
      state.watches[number, default: [:]][ObjectIdentifier(watch)] = Reference(watch: watch)
      return watch
    }
  }

  fileprivate func end(_ watch: ChangeWatch) {
    state.withLock { state in
      state.watches[watch.number]?[ObjectIdentifier(watch)] = nil
      guard state.watches[watch.number]?.isEmpty ?? false, let raw = state.descriptor?.raw else { return }
      state.watches[watch.number] = nil
      _ = inotify_rm_watch(raw, watch.number)
    }
  }

  /// Reads the kernel's pending notices. Takes one system call if there are none.
  public func update() {
    // Released outside the lock.
    var told: [ChangeWatch] = []
    state.withLock { state in
      guard let raw = state.descriptor?.raw else { return }
      Self.forEachNotice(of: raw) { notice in
        let concerned =
          notice.isLost
          ? state.watches.values.flatMap(\.values) : state.watches[notice.number].map { Array($0.values) } ?? []
        let name = notice.isLost || notice.events.contains(.ignored) ? nil : notice.name
        // Without a name, the notice is about the directory itself, which is validated by its times.
        if let name, name.bytes.isEmpty { return }
        for watch in concerned.compactMap(\.watch) {
          watch.note(name)
          told.append(watch)
        }
      }
    }
    withExtendedLifetime(told) {}
  }

  /// Reads all pending notices of an inotify descriptor, in order. Does not block.
  static func forEachNotice(of descriptor: Int32, _ body: (FolderNotice) -> Void) {
    while true {
      let notices = unsafe [UInt8](unsafeUninitializedCapacity: noticesLength) { buffer, count in
        count = unsafe max(0, read(descriptor, buffer.baseAddress, buffer.count))
      }
      if notices.isEmpty { return }
      forEach(in: notices[...], body)
    }
  }

  private static func forEach(in notices: ArraySlice<UInt8>, _ body: (FolderNotice) -> Void) {
    var rest = notices
    while rest.count >= headLength {
      func word(_ place: Int) -> UInt32 {
        rest.dropFirst(place).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
      }
      let events = FolderNotice.Events(rawValue: word(4))
      let (number, cookie, length) = (Int32(bitPattern: word(0)), word(8), Int(word(12)))
      let name = rest.dropFirst(headLength).prefix(length).prefix { $0 != 0 }
      body(
        FolderNotice(
          number: events.contains(.overflow) ? -1 : number, events: events, cookie: cookie, name: FileName(name)))
      rest = rest.dropFirst(headLength + length)
    }
  }
}

/// The changes in a directory since it is watched. The watch ends with this object.
public final class ChangeWatch: Sendable {
  /// The names of files whose bytes or attributes have changed.
  public enum Changes: Sendable {
    case named(Set<FileName>)
    /// Any file may have changed.
    case unknown

    /// Whether no file has changed.
    public var isEmpty: Bool {
      if case .named(let names) = self { names.isEmpty } else { false }
    }

    public func contains(_ name: FileName) -> Bool {
      switch self {
      case .named(let names): names.contains(name)
      case .unknown: true
      }
    }
  }

  fileprivate let number: Int32
  private let notices: ChangeNotices
  private let noted = UnfairLock(Changes.named([]))

  /// The maximum number of names that are kept.
  private static let mostNames = 4096

  fileprivate init(_ number: Int32, of notices: ChangeNotices) {
    self.number = number
    self.notices = notices
  }

  deinit { notices.end(self) }

  /// The changes as of the last `update`.
  public var changes: Changes { noted.withLock { $0 } }

  /// Whether any file has changed.
  public var hasChanges: Bool {
    noted.withLock { if case .named(let names) = $0 { !names.isEmpty } else { true } }
  }

  fileprivate func note(_ name: FileName?) {
    noted.withLock { noted in
      guard let name, case .named(var names) = noted, names.count < Self.mostNames else {
        noted = .unknown
        return
      }
      noted = .named([])
      names.insert(name)
      noted = .named(names)
    }
  }
}
