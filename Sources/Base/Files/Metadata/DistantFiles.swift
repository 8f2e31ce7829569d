internal import CPosix
internal import Glibc
internal import Locks
internal import Synchronization

/// File systems whose files are on other machines, or served by another program. Requests to them may take long.
enum DistantFiles {
  /// The statfs(2) types of NFS, SMB, CIFS, FUSE, 9P, Ceph and AFS. 0 is a file system that does not report one.
  private static let kinds: Set<UInt32> = [
    0, 0x6969, 0x517b, 0xff53_4d42, 0xfe53_4d42, 0x6573_5546, 0x0102_1997, 0x00c3_6400, 0x5346_414f,
  ]
  /// The types of overlayfs, eCryptfs, OrangeFS and Coda, whose files may be on such a file system.
  private static let stackedKinds: Set<UInt32> = [0x794c_7630, 0xf15f, 0x2003_0528, 0x7375_7245]

  private struct Known {
    let isDistant: Bool
    let isStacked: Bool
  }

  /// The results by device. Finding the type is a request, too.
  private static let known = UnfairLock<[UInt64: Known]>([:])
  private static let knownAtMost = 256

  /// Returns whether an open file is on such a file system. May block on the first call for a device.
  static func contains(_ descriptor: Int32, of device: UInt64) -> Bool { known(descriptor, device).isDistant }

  /// Returns whether close(2) may report the failure of an earlier write to an open file. May block on the first call
  /// for a device.
  static func reportAtClose(_ descriptor: Int32, of device: UInt64) -> Bool {
    let known = known(descriptor, device)
    return known.isDistant || known.isStacked
  }

  private static func known(_ descriptor: Int32, _ device: UInt64) -> Known {
    if let known = known.withLock({ $0[device] }) { return known }
    let kind = ffmount_file_system(descriptor)
    let found = Known(isDistant: kinds.contains(kind), isStacked: stackedKinds.contains(kind))
    known.withLock { known in
      if known.count >= knownAtMost { known = [:] }
      known[device] = found
    }
    return found
  }
}

/// Requests the next bytes of a file with high latency ahead of sequential reads.
///
/// The kernel itself requests 128 KiB at a time. With FUSE and some others, it is at most one request ahead.
struct ReadAhead: ~Copyable, Sendable {
  /// The start of the current run of sequential reads, the end of the last read, and the end of the requested bytes, in
  /// bytes.
  private let start = Atomic<Int64>(0)
  private let end = Atomic<Int64>(-1)
  private let asked = Atomic<Int64>(0)

  /// The minimum size of a read that counts as sequential, in bytes.
  private static let least = 64 << 10
  /// The maximum read-ahead, in bytes. It is also limited to the bytes read so far, so at most half of the requests are
  /// in vain.
  private static let reach: Int64 = 4 << 20
  private static let step = 128 << 10

  /// Records a read that is finished or about to start. Does not wait for the bytes that it requests.
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
    // Advances in large steps, each of many requests.
    guard reached + reach - from >= reach / 2 else { return }
    let until = min(file.size, reached + reach)
    guard until > from else { return }
    asked.store(until, ordering: .relaxed)
    // Linux limits each call to the size of its own read-ahead.
    for start in stride(from: from, to: until, by: Self.step) {
      _ = posix_fadvise(descriptor, off_t(start), off_t(min(until - start, Int64(Self.step))), POSIX_FADV_WILLNEED)
    }
  }
}
