internal import Bytes
internal import Catalogue
package import Jobs
internal import Tree

/// The service that reads Outlook files with folders of messages (`.pst`, `.ost`), by means of workers.
package struct MailStores: Sendable {
  let workers: ConversionService

  package init(_ workers: ConversionService) { self.workers = workers }

  static let extensions: Set<FileExtension> = ["pst", "ost"]

  /// Returns whether `head` is the start of such a file (MS-PST, section 2.2.2.6).
  static func isStart(_ head: ArraySlice<UInt8>) -> Bool { head.starts(with: Array("!BDN".utf8)) }
}
