import Assembly
import Bytes
import Files
import Locks

/// A setting that is in files, such as a token. It is read again when they have changed.
final class FileSetting: Sendable {
  /// The state of a file.
  private struct Stamp: Equatable {
    let revision: UInt64
    let changed: Timestamp
  }

  private let name: String
  private let paths: [String]
  private let read: @Sendable () throws -> Void
  private let stamps: UnfairLock<Stamps>

  private struct Stamps {
    /// The state at the last call.
    var seen: [Stamp?]
    /// The state in which the files were read.
    var read: [Stamp?]
  }

  /// - Parameters:
  ///   - name: the option that names the files.
  ///   - read: reads the files and applies the setting. Throws if they are unusable; the earlier setting then stays.
  init(_ name: String, in paths: [String], read: @escaping @Sendable () throws -> Void) throws {
    self.name = name
    self.paths = paths
    self.read = read
    let now = Self.stamps(paths)
    stamps = UnfairLock(Stamps(seen: now, read: now))
    try read()
  }

  /// Reads the files again if they have changed, but not since the last call, or if `isForced`: a program may still be
  /// writing them, and an empty file of users is valid. Returns the message for the log, or `nil` if nothing was read.
  /// Blocks.
  func renew(isForced: Bool) -> String? {
    let now = Self.stamps(paths)
    let isDue = stamps.withLock { stamps in
      defer { stamps.seen = now }
      guard isForced || now == stamps.seen && now != stamps.read else { return false }
      stamps.read = now
      return true
    }
    guard isDue else { return nil }
    do { try read() } catch {
      return "cannot use a changed file, the earlier setting stays: \((error as? Refusal)?.sentence ?? "\(error)")"
    }
    return "\(name): read again"
  }

  private static func stamps(_ paths: [String]) -> [Stamp?] {
    paths.map { path in
      guard let file = try? Descriptor.open(path: path, for: .place), let status = try? file.status() else {
        return nil
      }
      return Stamp(revision: status.revision, changed: status.changed)
    }
  }
}

/// The settings of a server that are in files.
final class FileSettings: Sendable {
  private let settings: [FileSetting]
  private let isRenewing = UnfairLock(false)

  init(_ settings: [FileSetting]) { self.settings = settings }

  /// Reads the changed files again, or all if `isForced`. Does nothing while another call does. Blocks.
  func renew(isForced: Bool = false, log: (String) -> Void) {
    let mayBegin = isRenewing.withLock { isRenewing in
      defer { isRenewing = true }
      return !isRenewing
    }
    guard mayBegin else { return }
    for setting in settings { if let message = setting.renew(isForced: isForced) { log(message) } }
    isRenewing.withLock { $0 = false }
  }

  var areNone: Bool { settings.isEmpty }
}
