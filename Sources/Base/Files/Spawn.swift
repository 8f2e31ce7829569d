package import Bytes
internal import CPosix
internal import Glibc

/// Starts the program at `path` by posix_spawn(3), with no signal blocked or ignored, as this process may have them;
/// returns its process id. The caller has to wait for it. Blocks until the program runs.
///
/// - Parameters:
///   - arguments: all of them, from the program's name on.
///   - inheritsVariables: whether it gets this process's environment, or an empty one.
///   - descriptors: its descriptors, in this order, and ours they are made from; nil is /dev/null. Lower ones that are
///     not named stay as they are, and all above the highest are closed.
///   - flags: more flags of posix_spawnattr_setflags(3).
/// - Throws: a fault with the call's error number.
package func spawn(
  _ path: String, _ arguments: [String], inheritsVariables: Bool, descriptors: KeyValuePairs<Int32, Int32?>,
  flags: Int32
) throws(Fault) -> Int32 {
  var actions = unsafe posix_spawn_file_actions_t()
  _ = unsafe posix_spawn_file_actions_init(&actions)
  defer { _ = unsafe posix_spawn_file_actions_destroy(&actions) }
  for (descriptor, ours) in descriptors {
    _ =
      if let ours {
        unsafe posix_spawn_file_actions_adddup2(&actions, ours, descriptor)
      } else {
        unsafe posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
      }
  }
  _ = unsafe ffmount_spawn_close_from(&actions, (descriptors.map(\.key).max() ?? STDERR_FILENO) + 1)

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

  var words: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer { for index in unsafe words.indices { unsafe free(words[index]) } }
  var nothing = unsafe [UnsafeMutablePointer<CChar>?.none]
  var child = pid_t()
  let status =
    if inheritsVariables {
      unsafe posix_spawn(&child, path, &actions, &attributes, &words, environ)
    } else {
      unsafe posix_spawn(&child, path, &actions, &attributes, &words, &nothing)
    }
  guard status == 0 else { throw Fault(.system(status), "posix_spawn") }
  return child
}
