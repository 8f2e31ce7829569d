package import Bytes
package import Catalogue
internal import Threads
package import Tree
package import Zip

/// How a tree is made, whoever asks for it.
package struct TreeSettings: Sendable {
  package var overrides = Overrides()
  /// Whether several users see the tree.
  package var isShared = false
  /// Whether real files can be changed.
  package var isWritable = false
  /// Whether what an NFS server knows files by holds for as long as the tree.
  package var keepsHandles = false
  package var listing = ViewListing()
  package var depth = 4
  /// The view that is shown of a file; nil for its usual one.
  package var view: String?
  package var zip = ZipOptions()
  /// The number of workers; nil for one per processor.
  package var workers: Int?
  /// The converter's path; nil for the one beside this program.
  package var converter: String?
  /// Where worker programs may be besides.
  package var programFolders: [String] = []
  /// The CPU time limit of one conversion, in seconds; nil for the usual one.
  package var conversionTime: Int?
  /// The memory limit of one worker, in bytes; nil for the usual one.
  package var conversionMemory: Int64?
  /// Of recognised text; nil for the locale's, or English.
  package var languages: ReadingLanguages?
  /// Whether files are converted even if the system lacks a layer of the converter's sandbox.
  package var isSandboxWeak = false
  /// The size of the conversion cache, in bytes.
  package var cacheSize = Converter.usualCacheSize
  /// The folder of the conversion cache that others share; nil for the user's own.
  package var sharedCache: String?
  /// Names the source's file system for what is kept of its files; nil for its device number.
  package var sourceID: String?
  /// The memory budget of all trees and caches together, in bytes.
  package var memory = Int64(MemoryBudget.usualCapacity)

  package init() {}

  /// The passwords for archives and PDFs.
  package var passwords: Passwords { zip.passwords }
}
