internal import ArgumentParser
package import Bytes
internal import Files
internal import Glibc
internal import Locks

/// A file with one password or token per line, as raw bytes up to LF or CRLF, with or without a byte order mark. It is
/// read again when it changes.
///
/// Its directory is kept open, because the daemon leaves the directory that a relative path starts from, and may mount
/// over it. A link is followed when the options are parsed.
package final class PasswordFile: Sendable {
  private let path: String
  /// The name of the option for the file.
  private let option: String
  private let folder: Descriptor
  private let name: FileName
  private let state = UnfairLock(State())

  private struct State {
    /// The file's stamp when it was last read. `nil` if it might not reveal a later change.
    var read: Stamp?
    /// The reason why the last read failed.
    var reason: String?
    var log: @Sendable (String) -> Void = { _ in }
  }

  private struct Stamp: Equatable {
    let revision: UInt64
    let changed: Timestamp

    init(_ status: FileStatus) { (revision, changed) = (status.revision, status.changed) }
  }

  private static let largest = 1 << 20
  /// The number of seconds after a change within which the file is always read again.
  private static let settlingTime: Int64 = 2

  private struct Reason: Error {
    let words: String
    init(_ words: String) { self.words = words }
  }

  /// Throws an error that names the file but never quotes its contents.
  package init(at path: String, option: String = "password_file") throws {
    self.path = path
    self.option = option
    guard let resolved = unsafe realpath(path, nil) else {
      throw PasswordFile.refusal(option, path, "\(describe(errno)) (check the path and its permissions)")
    }
    defer { unsafe free(resolved) }
    let real = unsafe String(cString: resolved)
    let slash = real.lastIndex(of: "/") ?? real.startIndex
    name = FileName(real[real.index(after: slash)...].utf8)
    guard
      let folder = try? Descriptor.open(path: slash == real.startIndex ? "/" : String(real[..<slash]), for: .place)
    else { throw PasswordFile.refusal(option, path, "\(describe(errno)) (check the path and its permissions)") }
    self.folder = folder
  }

  /// Returns the passwords, which follow changes of the file. A file that is removed, or becomes readable by others,
  /// has no passwords.
  package func passwords() throws -> Passwords {
    let first: [[UInt8]]
    do throws(Reason) { first = try read() } catch { throw PasswordFile.refusal(option, path, error.words) }
    guard !first.isEmpty else {
      throw PasswordFile.refusal(option, path, "no \(option.prefix { $0 != "_" }) in it (write one per line)")
    }
    return Passwords(first) { [self] in reread() }
  }

  /// Sets the log. The reason why a changed file is unusable is logged once.
  package func log(by log: @escaping @Sendable (String) -> Void) { state.withLock { $0.log = log } }

  private func reread() -> [[UInt8]]? {
    var passwords: [[UInt8]] = []
    var reason: String?
    do throws(Reason) {
      let now = try? FileStatus(of: name, in: folder.raw)
      if let now, state.withLock({ $0.read == Stamp(now) && $0.reason == nil }) { return nil }
      passwords = try read()
    } catch { reason = error.words }
    let log = state.withLock { state -> (@Sendable (String) -> Void)? in
      defer { state.reason = reason }
      return reason == nil || reason == state.reason ? nil : state.log
    }
    if let log, let reason { log("-o \(option)=\(path): \(reason): it is ignored until it is fixed") }
    return passwords
  }

  private func read() throws(Reason) -> [[UInt8]] {
    let raw = unsafe name.withCString {
      unsafe openat(folder.raw, $0, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)
    }
    guard raw >= 0 else { throw Reason("\(describe(errno)) (check the path and its permissions)") }
    let file = Descriptor(owning: raw)
    guard let status = try? file.status() else { throw Reason(describe(errno)) }
    guard status.type == S_IFREG else { throw Reason("not a file") }
    guard status.raw.st_mode & 0o077 == 0 else {
      throw Reason("other users can read it (make it private with: chmod 600 \(ShellWord.quoted(path)))")
    }
    guard status.size <= Self.largest else { throw Reason("larger than 1 MiB") }
    var bytes = [UInt8](repeating: 0, count: Int(status.size))
    var count = 0
    while count < bytes.count {
      let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe Glibc.read(file.raw, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      if got < 0 && errno == EINTR { continue }
      guard got >= 0 else { throw Reason(describe(errno)) }
      if got == 0 { break }
      count += got
    }
    let isSettled = time(nil) - Int(status.changed.seconds) > Self.settlingTime
    state.withLock { $0.read = isSettled ? Stamp(status) : nil }
    return Self.lines(bytes[..<count])
  }

  private static func lines(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
    let mark: [UInt8] = [0xef, 0xbb, 0xbf]
    let lines = bytes.dropFirst(bytes.starts(with: mark) ? mark.count : 0).split(separator: 0x0a)
    return lines.map { Array($0.last == 0x0d ? $0.dropLast() : $0) }.filter { !$0.isEmpty }
  }

  private static func refusal(_ option: String, _ path: String, _ reason: String) -> ValidationError {
    ValidationError("-o \(option)=\(path): \(reason)")
  }
}
