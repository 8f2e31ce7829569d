internal import Synchronization

/// The attributes of a real directory that the kernel has cached, in a mount that several users see.
struct ToldAttributes: ~Copyable, Sendable {
  /// A hash of the owner, permissions and ctime. 0 if the kernel has none. An inherited node has another value, which no
  /// hash is likely to have.
  let state = Atomic<UInt64>(0)
  /// A hash of the owner, permissions and access list at the last change of `state`. 0 if unknown.
  let rights = Atomic<UInt64>(0)
  /// The time at which a change of the permissions was last noticed, in nanoseconds of the monotonic clock. 0 if never.
  let changed = Atomic<UInt64>(0)

  /// Records that the kernel may have attributes from an earlier process.
  func noteInherited() { state.store(1, ordering: .sequentiallyConsistent) }
}
