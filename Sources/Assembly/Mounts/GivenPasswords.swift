package import Bytes
internal import CPosix
package import Files
internal import Glibc
internal import Locks

/// The passwords that `ffmount unlock` gives to a running mount.
///
/// A command passes a password to the daemon in the name of an extended attribute of the mount's root, which the
/// daemon reads and never stores: `user.ffmount.unlock.PASSWORD`. Unlike a written attribute, a name also reaches a
/// read-only mount, and unlike an argument, no other user sees it. The passwords exist in memory only. The processes of
/// a supervised mount share this memory.
package final class GivenPasswords: Sendable {
  private let passwords: Passwords
  /// The memory of a supervised mount. `nil` if no other process follows.
  private let memory: SharedMemory?
  /// Held while `memory` is written to.
  private let writing = UnfairLock<Void>(())

  /// A change of the passwords.
  package enum Change: String, CaseIterable, Sendable {
    case add = "unlock"
    case remove = "lock"

    fileprivate var prefix: [UInt8] { Array("user.ffmount.\(rawValue).".utf8) }
  }

  /// The maximum length of a password, in bytes, such that it fits into a name.
  package static let longest = 234
  /// The maximum number of passwords.
  private static let most = 255
  /// The size of a record in the shared memory: a length and a password.
  private static let recordSize = 256
  /// The size of the shared memory, in bytes: the number of records, and the records.
  package static let capacity = recordSize * (most + 1)

  /// Adds the passwords that an earlier process received to `passwords`.
  package init(addingTo passwords: Passwords, _ memory: SharedMemory?) {
    self.passwords = passwords
    self.memory = memory
    guard let memory else { return }
    let count = min(Int(memory.load(0, as: UInt8.self)), Self.most)
    let known = (0..<count).map { number in
      let record = memory.bytes(at: Self.recordSize * (number + 1), count: Self.recordSize)
      return Array(record.dropFirst().prefix(Int(record[0])))
    }
    passwords.change { $0 = known }
  }

  // MARK: The daemon

  /// Carries out the change that the name of an attribute of the mount's root contains. Returns the attribute's value,
  /// which is empty. Returns `nil` for other attributes.
  package func value(of name: FileName) -> [UInt8]? {
    guard let change = Change.allCases.first(where: { name.bytes.starts(with: $0.prefix) }) else { return nil }
    let password = Array(name.bytes.dropFirst(change.prefix.count))
    guard (1...Self.longest).contains(password.count) else { return nil }
    writing.withLock { _ in
      passwords.change { added in
        added.removeAll { $0 == password }
        if change == .add, added.count < Self.most { added.append(password) }
        if let memory { Self.store(added, in: memory) }
      }
    }
    return []
  }

  private static func store(_ passwords: [[UInt8]], in memory: SharedMemory) {
    var records: [UInt8] = []
    for password in passwords {
      let record = [UInt8(password.count)] + password
      records += record + [UInt8](repeating: 0, count: recordSize - record.count)
    }
    // A process that dies in between leaves no passwords. Removed ones are overwritten.
    memory.store(UInt8(0), at: 0)
    let rest = [UInt8](repeating: 0, count: capacity - recordSize - records.count)
    memory.store((records + rest)[...], at: recordSize)
    memory.store(UInt8(passwords.count), at: 0)
  }

  // MARK: The command

  /// Sends a password, of 1 to `longest` bytes without NUL, to the mount on a directory. Blocks until it answers. Throws
  /// the errno: ENODATA if the mount takes no passwords.
  package static func send(_ change: Change, _ password: [UInt8], to mountpoint: String) throws(SystemError) {
    let name = (change.prefix + password).map { CChar(bitPattern: $0) } + [0]
    var buffer: [UInt8] = [0]
    guard unsafe ffmount_lgetxattr(mountpoint, name, &buffer, buffer.count) >= 0 else { throw SystemError(code: errno) }
  }
}
