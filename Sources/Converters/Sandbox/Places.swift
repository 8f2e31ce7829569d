extension Sandbox {
  /// What a worker has of the file system, besides the files that it is handed.
  public struct Places: Sendable, ExpressibleByArrayLiteral {
    /// The folders it may read.
    public var folders: [String]
    /// The folders it may read and load libraries from after the sandbox has closed.
    public var libraries: [String] = []
    /// The size of a folder of its own, in which it may write, in bytes; nil if it has none.
    public var room: Int?

    /// Folders to be read.
    public init(arrayLiteral folders: String...) { self.folders = folders }

    var readable: [String] { folders + libraries + (room == nil ? [] : ["/dev/urandom"]) }
  }
}
