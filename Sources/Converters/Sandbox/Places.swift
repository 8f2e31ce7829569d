extension Sandbox {
  /// The parts of the file system that a worker can access, in addition to the files that it is handed.
  public struct Places: Sendable, ExpressibleByArrayLiteral {
    /// The directories that the worker may read.
    public var folders: [String]
    /// The directories that it may read and load libraries from after the sandbox has closed.
    public var libraries: [String] = []
    /// The size of a private directory in which it may write, in bytes. `nil` if it has none.
    public var room: Int?

    /// Creates a value from the directories to be read.
    public init(arrayLiteral folders: String...) { self.folders = folders }

    var readable: [String] { folders + libraries + (room == nil ? [] : ["/dev/urandom"]) }
  }
}
