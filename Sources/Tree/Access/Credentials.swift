public import Bytes
internal import Glibc

/// The credentials of the process that made a request.
///
/// The kernel checks permissions when a file is opened. A tree checks them only where the reply itself would reveal a
/// file's content.
public struct Credentials: Sendable {
  public let user: UInt32
  public let group: UInt32
  /// The thread ID. 0 if the thread is not visible in this PID namespace.
  public let thread: Int32

  public init(user: UInt32, group: UInt32, thread: Int32) {
    self.user = user
    self.group = group
    self.thread = thread
  }

  // MARK: The thread's caller

  private final class Box {
    let credentials: Credentials

    init(_ credentials: Credentials) { self.credentials = credentials }
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    _ = unsafe pthread_key_create(&key, nil)
    return key
  }()

  /// The credentials of the process for which this thread works. `nil` if its requests do not depend on them. For items
  /// that show different users different content.
  package static var current: Credentials? {
    unsafe pthread_getspecific(key).map { unsafe Unmanaged<Box>.fromOpaque($0).takeUnretainedValue().credentials }
  }

  /// Returns the result of `body`, with a caller as that of this thread.
  public static func running<Value>(
    as caller: Credentials?, _ body: () throws(Fault) -> Value
  ) throws(Fault) -> Value {
    guard let caller else { return try body() }
    let box = Box(caller)
    let before = unsafe pthread_getspecific(key)
    _ = unsafe pthread_setspecific(key, Unmanaged.passUnretained(box).toOpaque())
    defer {
      _ = unsafe pthread_setspecific(key, before)
      withExtendedLifetime(box) {}
    }
    return try body()
  }

  /// Identifies the rights of the process: its user and all its groups. Reads /proc.
  package var identity: UInt64 {
    var hash = StableHash(seed: UInt64(user)).adding(UInt64(group))
    for group in supplementary.sorted() { hash.combine(UInt64(group)) }
    return hash.value
  }

  // MARK: Groups and capabilities

  /// Returns whether the process is a member of a group. Returns `false` if that cannot be determined. Reads /proc.
  func isMember(of group: UInt32) -> Bool { group == self.group || supplementary.contains(group) }

  private var supplementary: [UInt32] { status("Groups").compactMap { UInt32($0) } }

  /// Returns the values of a line in /proc/THREAD/status. Empty if the line does not exist or cannot be read.
  private func status(_ key: String) -> [Substring] {
    guard thread > 0, let file = unsafe fopen("/proc/\(thread)/status", "re") else { return [] }
    defer { _ = unsafe fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { unsafe free(line) }
    while unsafe getline(&line, &capacity, file) >= 0 {
      guard let text = unsafe line.map({ unsafe String(cString: $0) }), text.hasPrefix("\(key):") else { continue }
      return text.dropFirst(key.utf8.count + 1).split { $0.isWhitespace }
    }
    return []
  }

  /// Whether the caller is a kernel thread, such as one of an NFS server, or is not visible.
  var isKernel: Bool { status("VmSize").isEmpty }

  /// Returns whether the process has CAP_DAC_OVERRIDE or, unless `wanted` includes write, CAP_DAC_READ_SEARCH, in this
  /// process's user namespace.
  private func isCapable(of wanted: UInt16) -> Bool {
    guard let word = status("CapEff").first, let capabilities = UInt64(word, radix: 16) else { return false }
    guard capabilities & 1 << 1 != 0 || capabilities & 1 << 2 != 0 && wanted & 2 == 0 else { return false }
    var (own, other) = (stat(), stat())
    return unsafe stat("/proc/self/ns/user", &own) == 0 && stat("/proc/\(thread)/ns/user", &other) == 0
      && own.st_ino == other.st_ino && own.st_dev == other.st_dev
  }

  /// Returns whether a mode, a list or a capability grants `wanted` (4 read, 2 write, 1 execute) to the process. Always
  /// true for root.
  func may(_ wanted: UInt16, _ face: AccessAttributes, _ list: AccessList?) -> Bool {
    user == 0 || isGiven(wanted, face, list) || isCapable(of: wanted)
  }

  private func isGiven(_ wanted: UInt16, _ face: AccessAttributes, _ list: AccessList?) -> Bool {
    if let list { return list.gives(wanted, to: self, owner: face.owner, group: face.group) }
    let shift =
      user == face.owner
      ? 6
      : face.permissions >> 3 & 7 != face.permissions & 7 && isMember(of: face.group) ? 3 : 0
    return face.permissions >> shift & wanted == wanted
  }
}
