internal import Glibc
public import SystemPackage

extension FileTree {
  /// Folders that a user has for a purpose, as the XDG specifications have them.
  public enum SearchPath: Sendable, Hashable, CaseIterable {
    /// What may be lost: `$XDG_CACHE_HOME`, else `.cache` at home.
    case cache
    /// `XDG_DOCUMENTS_DIR` in the user's `user-dirs.dirs`, else `Documents` at home.
    case documents
    /// `$HOME`, else what the system says of the user.
    case home
    /// `$TMPDIR`, else `/tmp`.
    case temporary

    /// The absolute path, whether or not there is such a folder; nil for a user who has no home. May read a small file.
    public var path: FilePath? {
      switch self {
      case .cache: Self.absolute("XDG_CACHE_HOME") ?? Self.inHome(".cache")
      case .documents: Self.named("XDG_DOCUMENTS_DIR") ?? Self.inHome("Documents")
      case .home: Self.absolute("HOME") ?? Self.homeOfUser
      case .temporary: Self.absolute("TMPDIR") ?? "/tmp"
      }
    }

    /// The path in an environment variable; a relative path is ignored.
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

    /// What user-dirs.dirs says: lines such as `XDG_DOCUMENTS_DIR="$HOME/Papers"`.
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
