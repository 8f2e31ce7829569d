internal import Bytes
internal import Glibc
public import SystemPackage

/// Why something in a tree could not be read, made or changed.
public struct FileTreeError: Error, Sendable, Hashable {
  /// What kind of thing went wrong.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// Nothing has this path.
    case notFound
    /// A folder that was to be listed is not there.
    case directoryNotFound
    /// The folder that something was to be made in is not there.
    case missingParent
    /// Something has the path already.
    case alreadyExists
    /// The folder is not empty.
    case notEmpty
    /// It is a file, where a folder is needed.
    case notADirectory
    /// It is a folder, where a file is needed.
    case isADirectory
    /// It is in a view, or is one: only real files and folders can be changed.
    case readOnlyView
    /// The file system, or the tree by its options, does not let anything be changed.
    case readOnly
    /// This user may not do it.
    case permissionDenied
    /// The bytes break their format's rules.
    case damaged
    /// The file was changed while it was read.
    case changed
    /// A password is missing, or none of those given fits.
    case passwordNeeded
    /// No space is left, or no quota.
    case noSpace
    /// It is larger than a limit allows: of the call, the options, or what keeps hostile files from harm.
    case limitExceeded
    /// What is asked for is not supported of this file, or not installed.
    case unsupported
    /// The path has no such form, such as one that leads out of the tree.
    case invalidPath
    /// A name in the path is too long.
    case nameTooLong
    /// The task was cancelled, or the tree closed.
    case cancelled
    /// Anything else: `underlying` says what.
    case system
  }

  /// What kind of thing went wrong.
  public let code: Code
  /// Where, relative to the tree's root; for an error about the root itself the path that was given.
  public let path: FilePath
  /// Why, as the end of a sentence that starts with the path.
  public let reason: String
  /// What the system said, if it was a system call that failed.
  public let underlying: Errno?

  /// Makes an error.
  public init(_ code: Code, path: FilePath, reason: String, underlying: Errno? = nil) {
    self.code = code
    self.path = path
    self.reason = reason
    self.underlying = underlying
  }
}

extension FileTreeError: CustomStringConvertible {
  /// One sentence for people, with the path.
  public var description: String { "\(path.isEmpty ? "." : path.string): \(reason)" }
}

extension FileTreeError {
  /// The error of a number or a name that no call takes.
  static func invalid(_ path: FilePath, _ reason: String) -> FileTreeError {
    FileTreeError(.system, path: path, reason: reason, underlying: .invalidArgument)
  }

  init(_ fault: Fault, _ path: FilePath) {
    var underlying: Errno?
    let code: Code
    switch fault.kind {
    case .later, .pending, .interrupted: code = .cancelled
    case .damaged: code = .damaged
    case .changed: code = .changed
    case .unsupported: code = .unsupported
    case .locked: code = .passwordNeeded
    case .limit: code = .limitExceeded
    case .system(let number):
      underlying = Errno(rawValue: number)
      // A reason is given where something is no real file.
      code = number == EROFS && !fault.reason.isEmpty ? .readOnlyView : Self.codes[number] ?? .system
    }
    let said = fault.description
    let reason = said.isEmpty ? code == .cancelled ? "it was cancelled" : underlying?.description ?? "it failed" : said
    self.init(code, path: path, reason: reason, underlying: underlying)
  }

  /// The same where a folder was to be found.
  func replacing(_ code: Code, by other: Code) -> FileTreeError {
    self.code == code ? FileTreeError(other, path: path, reason: reason, underlying: underlying) : self
  }

  private static let codes: [Int32: Code] = [
    ENOENT: .notFound, EEXIST: .alreadyExists, ENOTEMPTY: .notEmpty, ENOTDIR: .notADirectory, EISDIR: .isADirectory,
    EROFS: .readOnly, EACCES: .permissionDenied, EPERM: .permissionDenied, ENOSPC: .noSpace, EDQUOT: .noSpace,
    ESTALE: .changed, ELOOP: .invalidPath, ENAMETOOLONG: .nameTooLong, EOPNOTSUPP: .unsupported,
    ENXIO: .unsupported, EFBIG: .limitExceeded, E2BIG: .limitExceeded, ECANCELED: .cancelled, ENODEV: .cancelled,
  ]
}
