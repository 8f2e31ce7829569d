package import Bytes
internal import Glibc

/// ffmount's exit statuses, from sysexits.h where one fits.
package enum ExitStatus: Int32 {
  case success = 0
  /// An unexpected failure. Also a search that finds nothing.
  case failure = 1
  /// A search that cannot be done, as in grep(1).
  case searchFailure = 2
  /// Invalid options or arguments; also used by swift-argument-parser.
  case usage = 64
  /// SOURCE is a file that cannot be shown as a directory.
  case sourceUnsuitable = 65
  /// SOURCE is missing or cannot be read.
  case sourceMissing = 66
  /// FUSE is not available: no /dev/fuse, no fusermount3, or no permission.
  case fuseUnavailable = 69
  /// MOUNTPOINT is missing, not a directory, not empty, in use, or inside the source.
  case mountpointUnusable = 73
}

/// The reason why ffmount cannot continue: an exit status and a sentence that names the object, the cause and the
/// remedy.
package struct Refusal: Error {
  package let status: ExitStatus
  package let sentence: String

  package init(_ status: ExitStatus, _ sentence: String) {
    self.status = status
    self.sentence = sentence
  }

  /// Returns the refusal for an error of starting. A fault of a system call names the call alone.
  package init(starting error: any Error) {
    if let refusal = error as? Refusal {
      self = refusal
      return
    }
    guard let fault = error as? Fault, case .system(let code) = fault.kind else {
      self.init(.failure, "cannot start: \(error)")
      return
    }
    let call = fault.reason.isEmpty ? "" : "\(fault.reason): "
    self.init(.failure, "cannot start: \(call)\(describe(code))\(Self.limitAdvice(code))")
  }

  /// Calls `body` with each item. Continues after a failure: logs all failures but the last one, and throws that.
  package static func forEach<Item>(_ items: [Item], _ body: (Item) throws -> Void) throws {
    var failure: (any Error)?
    for item in items {
      do { try body(item) } catch {
        if let before = failure as? Refusal { Terminal.logError(before.sentence) }
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// Returns advice on a limit of the process that an error number tells of, in parentheses after a space. Empty for
  /// other errors.
  package static func limitAdvice(_ code: Int32) -> String {
    switch code {
    case EMFILE: " (permit more open files: ulimit -n 1024)"
    case ENOMEM: " (permit more memory: ulimit -v unlimited)"
    case EFBIG: " (permit larger files: ulimit -f unlimited)"
    default: ""
    }
  }

  /// Returns advice on an error number of a call that reads something, in parentheses after a space. Empty for errors
  /// that neither permissions nor limits cause.
  package static func readAdvice(_ code: Int32) -> String {
    [EACCES, EPERM].contains(code) ? " (check its permissions)" : limitAdvice(code)
  }

  package static func readAdvice(_ fault: Fault) -> String {
    if case .system(let code) = fault.kind { readAdvice(code) } else { "" }
  }

  /// Returns advice on an error number of a call that creates or writes a file in a directory, in parentheses after a
  /// space.
  ///
  /// - Parameter other: the advice to write elsewhere, such as `give another folder with --to FOLDER`.
  package static func writeAdvice(_ code: Int32, in folder: String, other: String) -> String {
    switch code {
    case ENOENT: " (make it with: mkdir -p \(ShellWord.quoted(folder)))"
    case ENOTDIR: " (it is not a folder: \(other))"
    case ENOSPC, EDQUOT: " (make room on the disk, or \(other))"
    default: limitAdvice(code).isEmpty ? " (\(other))" : limitAdvice(code)
    }
  }

  /// Runs a command. If `asJSON` is set, its refusal is also printed as an object with the key `error`.
  package static func reporting(asJSON: Bool, _ body: () throws -> Void) throws {
    do { try body() } catch let refusal as Refusal {
      if asJSON { print((["error": .string(refusal.sentence)] as JSON).text) }
      throw refusal
    }
  }
}
