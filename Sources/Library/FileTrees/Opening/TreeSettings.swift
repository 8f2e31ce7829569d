package import Bytes
package import Catalogue
internal import Threads
package import Tree
package import Zip

/// The settings of a tree, for mounts, servers and the library.
package struct TreeSettings: Sendable {
  package var overrides = Overrides()
  /// Whether several users access the tree.
  package var isShared = false
  /// Whether real files can be changed.
  package var isWritable = false
  /// Whether NFS file handles stay valid as long as the tree exists.
  package var keepsHandles = false
  package var listing = ViewListing()
  package var depth = 4
  /// The view that is shown of a file. `nil` for its default view.
  package var view: String?
  /// Whether a view that requires an unknown password can be shown of a file. It can be read once the password is known.
  package var canBeLocked = false
  package var zip = ZipOptions()
  /// The number of workers. `nil` for one per processor.
  package var workers: Int?
  /// The path of a program that runs all conversions. `nil` for the installed worker programs.
  package var converter: String?
  /// Additional directories of worker programs.
  package var programFolders: [String] = []
  /// The CPU time limit of one conversion, in seconds. `nil` for the default limit.
  package var conversionTime: Int?
  /// The memory limit of one worker, in bytes. `nil` for the default limit.
  package var conversionMemory: Int64?
  /// The languages of text recognition. `nil` for the locale's language, or English.
  package var languages: ReadingLanguages?
  /// Whether files are converted even if the system lacks a layer of the converter's sandbox.
  package var isSandboxWeak = false
  /// The size of the conversion cache, in bytes.
  package var cacheSize = Converter.usualCacheSize
  /// The directory of a shared conversion cache. `nil` for the user's own cache.
  package var sharedCache: String?
  /// The identifier of the source's file system in cached data. `nil` for its device number.
  package var sourceID: String?
  /// Whether documents are indexed while the machine is idle, not only before searches.
  package var indexesWhileIdle = false
  /// The memory budget of all trees and caches together, in bytes.
  package var memory = Int64(MemoryBudget.usualCapacity)

  package init() {}

  /// The passwords for archives and PDFs.
  package var passwords: Passwords { zip.passwords }
}
