package import Glibc

/// Calls `body` with attributes for posix_spawn(3): `flags`, and in the child no signal blocked or ignored, as the daemon
/// has them.
package func withSpawnAttributes<Value>(
  _ flags: Int32, _ body: (UnsafeMutablePointer<posix_spawnattr_t>) -> Value
) -> Value {
  var attributes = posix_spawnattr_t()
  _ = unsafe posix_spawnattr_init(&attributes)
  defer { _ = unsafe posix_spawnattr_destroy(&attributes) }
  var signals = sigset_t()
  _ = unsafe sigemptyset(&signals)
  _ = unsafe posix_spawnattr_setsigmask(&attributes, &signals)
  _ = unsafe sigfillset(&signals)
  _ = unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
  let all = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | flags
  _ = unsafe posix_spawnattr_setflags(&attributes, Int16(all))
  return unsafe body(&attributes)
}
