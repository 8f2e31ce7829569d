package import Bytes
internal import CPosix
internal import Glibc

/// Starts the program at `path` with posix_spawn(3). Returns its process ID. The caller has to wait for the process.
/// Blocks until the program runs.
///
/// No signals are blocked or ignored in the program, regardless of this process's.
///
/// - Parameters:
///   - arguments: All arguments, including the program's name.
///   - inheritsVariables: Whether the program gets this process's environment. Otherwise, it is empty.
///   - descriptors: The program's descriptors, in this order, and those of this process that they are copied from.
///     Nil is /dev/null. Lower descriptors that are not listed stay as they are. All above the highest are closed.
///   - flags: More flags of posix_spawnattr_setflags(3).
/// - Throws: A fault with the call's error number.
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
