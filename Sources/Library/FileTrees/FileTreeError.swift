internal import Bytes
internal import Glibc
public import SystemPackage

/// An error of reading, making or changing an item in a tree.
public struct FileTreeError: Error, Sendable, Hashable {
  /// The kind of an error.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The path does not exist.
    case notFound
    /// A directory to list does not exist.
    case directoryNotFound
    /// The directory in which an item is to be created does not exist.
    case missingParent
    /// The path exists already.
    case alreadyExists
    /// The directory is not empty.
    case notEmpty
    /// A directory is required.
    case notADirectory
    /// A file is required, but the item is a directory.
    case isADirectory
    /// The item is a view or in a view. Only real files and directories can be changed.
    case readOnlyView
    /// The file system, or the options of the tree, do not permit changes.
    case readOnly
    /// The user lacks permission.
    case permissionDenied
    /// The bytes violate the rules of their format.
    case damaged
    /// The file was changed while it was read.
    case changed
    /// A password is missing, or none of the given ones is right.
    case passwordNeeded
    /// The disk is full, or a quota is exhausted.
    case noSpace
    /// A limit is exceeded: of the call, of the options, or for protection against hostile files.
    case limitExceeded
    /// The operation is not supported for this file, or not installed.
    case unsupported
    /// The path is invalid, for example because it leads out of the tree.
    case invalidPath
    /// A name in the path is too long.
    case nameTooLong
    /// The task was cancelled, or the tree was closed.
    case cancelled
    /// Any other error, which `underlying` identifies.
    case system
  }

  /// The kind of the error.
  public let code: Code
  /// The path that the error is about, relative to the tree's root. For an error about the root itself, the path as it
  /// was given.
  public let path: FilePath
  /// The reason, as the end of a sentence that starts with the path.
  public let reason: String
  /// The error number, if a system call failed.
  public let underlying: Errno?

  /// Creates an error.
  public init(_ code: Code, path: FilePath, reason: String, underlying: Errno? = nil) {
    self.code = code
    self.path = path
    self.reason = reason
    self.underlying = underlying
  }
}

extension FileTreeError: CustomStringConvertible {
  /// A user-visible sentence that starts with the path.
  public var description: String { "\(path.isEmpty ? "." : path.string): \(reason)" }
}

extension FileTreeError {
  /// Returns the error for an invalid number or name in a call.
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
      // The tree gives a reason if the item is not a real file.
      code = number == EROFS && !fault.reason.isEmpty ? .readOnlyView : Self.codes[number] ?? .system
    }
    let said = fault.description
    let reason = said.isEmpty ? code == .cancelled ? "it was cancelled" : underlying?.description ?? "it failed" : said
    self.init(code, path: path, reason: reason, underlying: underlying)
  }

  /// Returns the error with `other` instead of `code`, if that is its code.
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
