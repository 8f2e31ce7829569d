internal import ArgumentParser
package import Bytes
internal import FileTrees
internal import Glibc
internal import Zip

/// What the options say of a server that is mounted.
package struct ServerAccess: Sendable {
  /// Whose first is what who asks has to know; nil if nothing.
  package var token: Passwords?
  package var tokenFile: PasswordFile?
  /// The absolute path of a file of authorities in PEM that vouch for the server; nil for those of the system.
  package var authorities: String?
  /// How long a request waits for a server that is away, in seconds.
  package var wait = 30

  /// Whether SOURCE is a server's address, and no path.
  package static func isAddress(_ source: String) -> Bool {
    source.hasPrefix("http://") || source.hasPrefix("https://")
  }

  /// The absolute path of a file that can be read; throws if there is none.
  package static func readable(_ path: String, _ option: String) throws -> String {
    guard unsafe access(path, R_OK) == 0, let found = unsafe realpath(path, nil) else {
      throw ValidationError("-o \(option)=\(path): \(describe(errno)) (check the path and its permissions)")
    }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }

  /// Those that mean nothing but with a server.
  fileprivate static let own: Set = ["token_file", "ca_file", "wait"]

  /// Those of other mounts that mean something with a server, too: the server's machine decides the rest.
  fileprivate static let shared: Set = [
    "sizes", "memory", "uid", "gid", "umask", "allow_other", "allow_root", "auto_unmount", "nonempty", "fsname", "idle",
    "max_threads", "subtype", "comment", "max_read", "max_idle_threads", "players",
    "symlinks",
  ]
}

extension MountOptions {
  /// Whether symbolic links are shown as links wherever they lead.
  package var showsAllLinks: Bool { tree.zip.showsAllLinks }

  /// Throws a refusal for an option that has no meaning for what is mounted.
  package func checkUse(isServer: Bool) throws {
    if !isServer, let option = given.intersection(ServerAccess.own).min() {
      throw Refusal(.usage, "-o \(option) is for a server that is mounted, as in: ffmount http://host:4200 MOUNTPOINT")
    }
    if isServer, let option = given.subtracting(ServerAccess.own.union(ServerAccess.shared)).min() {
      throw Refusal(.usage, "-o \(option) is for the server's machine (give it to ffmount serve there)")
    }
  }
}
