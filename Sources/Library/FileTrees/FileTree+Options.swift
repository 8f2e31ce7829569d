internal import Bytes
internal import Files
internal import Glibc
public import SystemPackage
internal import Tree
internal import Zip

extension FileTree {
  /// The options of a tree, which correspond to those of a mount.
  public struct Options: Sendable {
    /// A location of the cache.
    public enum Cache: Sendable, Hashable {
      /// The user's cache directory (`$XDG_CACHE_HOME/ffmount`), shared with mounts.
      case user
      /// A separate directory, which is created if it is missing. Other users must not be able to change it.
      case folder(FilePath)
      /// No cache on disk. Results last as long as the tree.
      case none
    }

    /// The location of the cache.
    public var cache = Cache.user
    /// A directory for converted files and parts of search indexes that several machines mount. Other users must not be
    /// able to change it. `nil` for none.
    public var sharedCache: FilePath?
    /// The name of the source's file system in shared files, if it has another device number on each machine. `nil` for
    /// its device number.
    public var sourceID: String?
    /// The maximum size of converted files in the cache, in bytes.
    public var cacheSize: Int64 = 2 << 30
    /// Whether expensive results, such as the messages of a mailbox, are stored in an index.
    public var keepsIndex = true
    /// Whether worker programs make views. If not, images, PDFs, films and similar files have no views.
    public var converts = true
    /// An additional directory with worker programs. They are always searched for in this program's directory, in
    /// `../libexec/ffmount` relative to it, and where packages install them.
    public var workerFolder: FilePath?
    /// The maximum number of concurrent conversions. `nil` for one per processor.
    public var workers: Int?
    /// The CPU time limit of one conversion, in seconds. `nil` for the default limit.
    public var conversionTime: Int?
    /// The memory limit of one conversion, in bytes. `nil` for the default limit.
    public var conversionMemory: Int64?
    /// Whether files are converted even if the system lacks a layer of the workers' sandbox.
    public var permitsWeakSandbox = false
    /// The memory for names and caches, in bytes.
    public var memory = 64 << 20
    /// Passwords that are tried on encrypted archives and PDFs, in this order.
    public var passwords: [String] = []
    /// The character set of names in archives that do not specify it, as named by iconv. `nil` to detect it.
    public var charset: String?
    /// Whether listings show views. Their names work regardless.
    public var listsViews = true
    /// The number of nested archives up to which listings show views.
    public var depth = 4
    /// Whether real files and directories can be changed.
    public var isWritable = true
    /// Called with user-visible lines, on any thread, when a conversion fails for a reason other than its file.
    public var log: @Sendable (String) -> Void = { _ in }

    /// Creates the default options. They equal those of a mount, except that real files can be changed.
    public init() {}
  }
}

extension FileTree.Options {
  var settings: TreeSettings {
    var settings = TreeSettings()
    settings.isWritable = isWritable
    if !listsViews { settings.listing.preset = .none }
    settings.depth = depth
    settings.zip.passwords = Passwords(passwords.map { Array($0.utf8) })
    settings.zip.charset = charset
    settings.workers = workers
    settings.programFolders = (workerFolder.map { [$0.string] } ?? []) + OwnPrograms.installed
    settings.conversionTime = conversionTime
    settings.conversionMemory = conversionMemory
    settings.isSandboxWeak = permitsWeakSandbox
    settings.cacheSize = cacheSize
    settings.sharedCache = sharedCache?.string
    settings.sourceID = sourceID
    settings.memory = Int64(memory)
    return settings
  }

  /// Returns the directory of the cache. Returns `nil` if the cache is disabled. Throws if others can change the
  /// directory.
  func usableCacheFolder() throws(Fault) -> String? {
    if let sharedCache, let reason = CacheFolder.objection(toShared: sharedCache.string) {
      throw Fault(.system(EACCES), "its shared cache \(sharedCache.string) cannot be used: \(reason)")
    }
    switch cache {
    case .none: return nil
    case .user: return CacheFolder.path()
    case .folder(let path):
      if let reason = CacheFolder.objection(to: path.string) {
        throw Fault(.system(EACCES), "its cache \(path.string) cannot be used: \(reason)")
      }
      return path.string
    }
  }
}
