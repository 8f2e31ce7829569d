internal import Glibc
public import SystemPackage

extension FileTree {
  /// The standard directories of a user, as in the XDG specifications.
  public enum SearchPath: Sendable, Hashable, CaseIterable {
    /// The directory of data that may be deleted: `$XDG_CACHE_HOME`, or `.cache` in the home directory.
    case cache
    /// `XDG_DOCUMENTS_DIR` in the user's `user-dirs.dirs`, or `Documents` in the home directory.
    case documents
    /// `$HOME`, or the home directory in the system's user database.
    case home
    /// `$TMPDIR`, or `/tmp`.
    case temporary

    /// The absolute path, whether or not the directory exists. `nil` if the user has no home directory. May read a
    /// small file.
    public var path: FilePath? {
      switch self {
      case .cache: Self.absolute("XDG_CACHE_HOME") ?? Self.inHome(".cache")
      case .documents: Self.named("XDG_DOCUMENTS_DIR") ?? Self.inHome("Documents")
      case .home: Self.absolute("HOME") ?? Self.homeOfUser
      case .temporary: Self.absolute("TMPDIR") ?? "/tmp"
      }
    }

    /// Returns the path in an environment variable. Relative paths are ignored.
    private static func absolute(_ variable: String) -> FilePath? {
      guard let value = unsafe getenv(variable) else { return nil }
      let path = unsafe FilePath(platformString: value)
      return path.isAbsolute ? path : nil
    }

    private static func inHome(_ name: FilePath.Component) -> FilePath? { home.path?.appending(name) }

    private static var homeOfUser: FilePath? {
      guard let user = unsafe getpwuid(geteuid()), let folder = unsafe user.pointee.pw_dir else { return nil }
      return unsafe FilePath(platformString: folder)
    }

    /// Returns a path in user-dirs.dirs, from a line such as `XDG_DOCUMENTS_DIR="$HOME/Papers"`.
    private static func named(_ name: String) -> FilePath? {
      guard let home = home.path, let folder = absolute("XDG_CONFIG_HOME") ?? inHome(".config"),
        let text = contents(of: folder.appending("user-dirs.dirs"))
      else { return nil }
      for line in text.split(separator: "\n") {
        let line = line.drop { $0 == " " || $0 == "\t" }
        guard line.hasPrefix("\(name)=\""), let end = line.lastIndex(of: "\"") else { continue }
        let start = line.index(line.startIndex, offsetBy: name.count + 2)
        guard start <= end else { continue }
        let value = line[start..<end]
        if value.hasPrefix("/") { return FilePath(String(value)) }
        if value == "$HOME" || value == "$HOME/" { return home }
        if value.hasPrefix("$HOME/") { return home.appending(String(value.dropFirst("$HOME/".count))) }
      }
      return nil
    }

    private static func contents(of path: FilePath) -> String? {
      guard let file = try? FileDescriptor.open(path, .readOnly) else { return nil }
      defer { try? file.close() }
      var bytes = [UInt8](repeating: 0, count: 64 << 10)
      guard let count = try? unsafe bytes.withUnsafeMutableBytes({ unsafe try file.read(into: $0) }) else { return nil }
      return String(decoding: bytes[..<count], as: UTF8.self)
    }
  }
}
