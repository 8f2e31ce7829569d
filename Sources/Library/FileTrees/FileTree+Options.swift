internal import Bytes
internal import Files
internal import Glibc
public import SystemPackage
internal import Tree
internal import Zip

extension FileTree {
  /// How a tree is read: as the options of a mount say it.
  public struct Options: Sendable {
    /// Where results are kept for the next time.
    public enum Cache: Sendable, Hashable {
      /// In the user's cache folder (`$XDG_CACHE_HOME/ffmount`), shared with mounts.
      case user
      /// In a folder of one's own, which is made if it is missing; others must not be able to change it.
      case folder(FilePath)
      /// Nowhere: what was found and made lasts as long as the tree.
      case none
    }

    /// Where results are kept for the next time.
    public var cache = Cache.user
    /// The most space of converted files in the cache, in bytes.
    public var cacheSize: Int64 = 2 << 30
    /// Whether what is expensive to find, such as the messages of a mailbox, is kept in an index.
    public var keepsIndex = true
    /// Whether there are views that worker programs make: without, images, PDFs, films and the like are what they are.
    public var converts = true
    /// Where worker programs are looked for, besides this program's folder, `../libexec/ffmount` from there, and where
    /// packages install them.
    public var workerFolder: FilePath?
    /// How many conversions are made at a time; nil for one a processor.
    public var workers: Int?
    /// The CPU time of one conversion, in seconds; nil for the usual limit.
    public var conversionTime: Int?
    /// The memory of one conversion, in bytes; nil for the usual limit.
    public var conversionMemory: Int64?
    /// Whether files are converted even if the system lacks a layer of the workers' sandbox.
    public var permitsWeakSandbox = false
    /// The memory for names and caches, in bytes.
    public var memory = 64 << 20
    /// Tried on encrypted archives and PDFs, in this order.
    public var passwords: [String] = []
    /// The character set of archived names that do not say theirs, by iconv's name; nil to detect it.
    public var charset: String?
    /// Whether a listing has views at all. Their names work without.
    public var listsViews = true
    /// How many archives deep a listing shows views.
    public var depth = 4
    /// Whether real files and folders can be changed.
    public var isWritable = true
    /// Is called with lines for people, on any thread, when a conversion fails for a reason other than its file.
    public var log: @Sendable (String) -> Void = { _ in }

    /// Those of a mount, but that real files can be changed.
    public init() {}
  }
}

extension FileTree.Options {
  var settings: TreeSettings {
    var settings = TreeSettings()
    settings.isWritable = isWritable
    settings.listing.isOff = !listsViews
    settings.depth = depth
    settings.zip.passwords = Passwords(passwords.map { Array($0.utf8) })
    settings.zip.charset = charset
    settings.workers = workers
    settings.programFolders = (workerFolder.map { [$0.string] } ?? []) + OwnPrograms.installed
    settings.conversionTime = conversionTime
    settings.conversionMemory = conversionMemory
    settings.isSandboxWeak = permitsWeakSandbox
    settings.cacheSize = cacheSize
    settings.memory = Int64(memory)
    return settings
  }

  /// The folder of the cache; nil if nothing is kept.
  func usableCacheFolder() throws(Fault) -> String? {
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
