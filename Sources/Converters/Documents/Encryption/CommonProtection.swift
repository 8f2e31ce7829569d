internal import Catalogue
public import WorkerKit

/// The encryption of a document merged from several. It is that of the strictest one, so that access to the contents is
/// never extended.
public struct CommonProtection {
  private struct Member {
    let name: String
    let protection: Protection
    /// The user password. Nil if only the owner password is known.
    let password: [UInt8]?
    /// The permission bits.
    let permissions: Int
  }

  private var members: [Member] = []
  /// The protection of the strictest file. Nil if no file is encrypted.
  private(set) var strictest: Protection?
  /// The reason why no single protection suits all files: they have different user passwords, or each permits
  /// operations that another forbids.
  public private(set) var conflict: JobFailure?
  /// The PDF version, as in `%PDF-1.7`.
  var version: String { strictest == nil ? "1.7" : "2.0" }

  public init() {}

  /// Adds a file. Throws if it cannot be read.
  ///
  /// - Parameter passwords: candidates for opening the file.
  public mutating func add(_ input: JobInput, _ passwords: [[UInt8]], named name: String) throws(JobFailure) {
    guard input.isPDF, input.mentionsEncryption else { return }
    let file = try PDFFile(reading: input, passwords)
    guard let protection = try file.protection.get() else { return }
    // If the pages can be opened at all, everything is permitted.
    let permissions = protection.isForFilesOnly ? -1 : file.trailer["/Encrypt"]?["/P"]?.integer ?? 0
    members.append(
      Member(
        name: name, protection: protection, password: file.readersPassword(among: passwords), permissions: permissions))
    guard members.count > 1 else {
      strictest = protection
      return
    }
    let isOneLock = members.allSatisfy { $0.password != nil && $0.password == members[0].password }
    let least = members.first { one in members.allSatisfy { one.permissions & ~$0.permissions == 0 } }
    guard isOneLock, let least else {
      conflict = JobFailure(
        .unsupported, "\(name) is protected in another way than \(members[0].name), and one document has one protection"
      )
      return
    }
    strictest = least.protection
  }
}
