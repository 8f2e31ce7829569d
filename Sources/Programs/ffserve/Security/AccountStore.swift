import Assembly
import Bytes
import Glibc

/// The file of `--users`, which requests and commands change, and the counts of its links.
final class AccountStore: Sendable {
  private let path: String
  let visits: Visits
  private let use: @Sendable ([Account]) -> Void

  /// - Parameters:
  ///   - visits: the counts of the links.
  ///   - use: called with the accounts when they are read, and after a change by this process.
  init(at path: String, _ visits: Visits, use: @escaping @Sendable ([Account]) -> Void = { _ in }) {
    self.path = path
    self.use = use
    self.visits = visits
  }

  /// Returns the accounts in the file. Throws if others can read it, or it is malformed. Blocks.
  func accounts() throws -> [Account] { try UserFile(at: path).accounts.map { $0.account } }

  /// Reads the accounts and passes them on. Blocks.
  func read() throws { use(try accounts()) }

  /// Replaces the file atomically, and its changes by several processes follow each other. Blocks.
  ///
  /// - Parameter creating: whether the file is created if it does not exist.
  @discardableResult
  func change<Value>(
    creating: Bool, _ body: (inout UserFile) throws(UserFile.Failure) -> Value
  ) throws -> Value {
    let lock = try locked(creating: creating)
    defer { close(lock) }
    do {
      var status = stat()
      guard unsafe stat(path, &status) == 0 else { throw failure("read") }
      var file = status.st_size == 0 ? try UserFile("") : try UserFile(at: path)
      let result = try body(&file)
      try write(file.text, owner: (status.st_uid, status.st_gid))
      use(file.accounts.map { $0.account })
      return result
    } catch let failure as UserFile.Failure {
      throw Refusal(.usage, "--users \(path): \(failure.reason)")
    }
  }

  private func failure(_ verb: String) -> Refusal {
    Refusal(.failure, "cannot \(verb) \(path): \(describe(errno)) (check the path and its permissions)")
  }

  /// Returns a descriptor of the file that no other process has locked.
  private func locked(creating: Bool) throws -> Int32 {
    while true {
      let raw = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (creating ? O_CREAT : 0), 0o600)
      guard raw >= 0 else { throw failure("read") }
      var (own, named) = (stat(), stat())
      while flock(raw, LOCK_EX) != 0, errno == EINTR {}
      // Another process may have replaced the file in the meantime.
      if unsafe fstat(raw, &own) == 0, unsafe stat(path, &named) == 0, own.st_ino == named.st_ino { return raw }
      close(raw)
    }
  }

  private func write(_ text: String, owner: (user: uid_t, group: gid_t)) throws {
    var name = Array("\(path).XXXXXX".utf8CString)
    let raw = unsafe mkstemp(&name)
    guard raw >= 0 else { throw failure("write") }
    var isDone = false
    defer {
      close(raw)
      if !isDone { _ = unsafe unlink(name) }
    }
    let bytes = Array(text.utf8)
    guard unsafe Glibc.write(raw, bytes, bytes.count) == bytes.count, fsync(raw) == 0 else { throw failure("write") }
    // The server may run as another user.
    if geteuid() == 0, fchown(raw, owner.user, owner.group) != 0 { throw failure("write") }
    guard unsafe rename(name, path) == 0 else { throw failure("write") }
    isDone = true
  }
}
