internal import CPosix
internal import Glibc
internal import Synchronization

/// File systems whose files are on other machines, or with another program: a request there may take long.
enum DistantFiles {
  /// NFS, SMB, CIFS, FUSE, 9P, Ceph and AFS, as statfs(2) numbers them; 0 is one that does not say.
  private static let kinds: Set<UInt32> = [
    0, 0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x6573_5546, 0x0102_1997, 0x00c3_6400, 0x5346_414f,
  ]

  /// By device: to ask is a request, too.
  private static let known = Mutex<[UInt64: Bool]>([:])
  private static let knownAtMost = 256

  /// Whether an open file is one. May block the first time that a file of its device is asked about.
  static func contains(_ descriptor: Int32, of device: UInt64) -> Bool {
    if let known = known.withLock({ $0[device] }) { return known }
    let isDistant = kinds.contains(ffmount_file_system(descriptor))
    known.withLock { known in
      if known.count >= knownAtMost { known = [:] }
      known[device] = isDistant
    }
    return isDistant
  }
}

/// Asks for what comes next in a file of high latency, before it is wanted, while it is read from front to back.
///
/// A kernel asks for 128 KiB at a time, of FUSE and some others the one before the next at most.
struct ReadAhead: ~Copyable, Sendable {
  /// Where the first of the reads began that followed each other, where the last one ended, and how far was asked ahead, in
  /// bytes.
  private let start = Atomic<Int64>(0)
  private let end = Atomic<Int64>(-1)
  private let asked = Atomic<Int64>(0)

  /// Shorter reads are not those of who reads all of a file, in bytes.
  private static let least = 64 << 10
  /// No more than has been read, so that at most half is asked for in vain.
  private static let reach: Int64 = 4 << 20
  private static let step = 128 << 10

  /// Takes note of a read that has been or is about to be done. Does not wait for what it asks for.
  func note(_ descriptor: Int32, of file: FileStatus, at offset: Int64, count: Int) {
    guard count >= Self.least else { return }
    let reached = offset + Int64(count)
    guard end.exchange(reached, ordering: .relaxed) == offset else {
      return start.store(offset, ordering: .relaxed)
    }
    guard reached < file.size, DistantFiles.contains(descriptor, of: file.device) else { return }
    let reach = min(Self.reach, reached - start.load(ordering: .relaxed))
    let before = asked.load(ordering: .relaxed)
    let from = (reached...reached + Self.reach).contains(before) ? before : reached
    // In large steps, each of many requests.
    guard reached + reach - from >= reach / 2 else { return }
    let until = min(file.size, reached + reach)
    guard until > from else { return }
    asked.store(until, ordering: .relaxed)
    // Of one call, Linux asks for no more than it reads ahead at once.
    for start in stride(from: from, to: until, by: Self.step) {
      _ = posix_fadvise(descriptor, off_t(start), off_t(min(until - start, Int64(Self.step))), POSIX_FADV_WILLNEED)
    }
  }
}
