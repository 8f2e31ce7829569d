internal import ArgumentParser
package import Bytes
internal import FileTrees
internal import Glibc
internal import Zip

/// The options for a mounted server.
package struct ServerAccess: Sendable {
  /// The access token, as the first password. `nil` if the server requires none.
  package var token: Passwords?
  package var tokenFile: PasswordFile?
  /// The absolute path of a PEM file with the certificate authorities for the server. `nil` for those of the system.
  package var authorities: String?
  /// The time that a request waits for an unavailable server, in seconds.
  package var wait = 30
  /// The URL of an S3 server other than that of AWS, and the region of the bucket. `nil` for those of the AWS settings.
  package var endpoint: String?
  package var region: String?
  /// Whether requests to S3 are not signed.
  package var isAnonymous = false
  /// Whether the bucket is a part of the path, or one of the host. `nil` if that is not set.
  package var hasBucketInPath: Bool?
  /// The absolute path of the settings of ssh. `nil` for those of the user and the system.
  package var sshSettings: String?

  /// Whether files are copied of which the server does not send parts.
  package var downloads = false
  /// Whether the source is shown as it was kept, without requests.
  package var isOffline = false

  /// Returns whether SOURCE is the address of a server, not a path.
  package static func isAddress(_ source: String) -> Bool {
    ["http://", "https://", "s3://", "sftp://"].contains { source.hasPrefix($0) }
  }

  /// Returns the absolute path of a readable file. Throws if the file cannot be read.
  package static func readable(_ path: String, _ option: String) throws -> String {
    guard unsafe access(path, R_OK) == 0, let found = unsafe realpath(path, nil) else {
      throw ValidationError("-o \(option)=\(path): \(describe(errno)) (check the path and its permissions)")
    }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }

  /// The options that are valid for a source on another machine whose views this one makes.
  package static let ofSources = own.subtracting(["token_file"])

  /// The options that are valid only for a server.
  fileprivate static let own: Set = [
    "token_file", "ca_file", "wait", "endpoint", "region", "anonymous", "bucket", "ssh_config", "offline",
    "download",
  ]

  /// The options of other mounts that are also valid for a server. All others are options of the server itself.
  fileprivate static let shared: Set = [
    "sizes", "memory", "uid", "gid", "umask", "dmask", "fmask", "allow_other", "allow_root", "auto_unmount", "nonempty",
    "fsname", "idle",
    "max_threads", "subtype", "comment", "max_read", "max_idle_threads", "players", "copiers",
    "symlinks", "ro", "rw", "writable",
  ]

  /// The options of mountpoints, which `ffmount serve` does not have.
  fileprivate static let ofMounts: Set = [
    "allow_other", "allow_root", "auto_unmount", "copiers", "export", "fsname", "idle", "max_threads", "nonempty",
    "players", "sizes", "supervise",
  ]
}

extension MountOptions {
  /// Whether symbolic links are shown as links, regardless of their targets.
  package var showsAllLinks: Bool { tree.zip.showsAllLinks }

  /// Where the mounted source is.
  package enum Origin {
    case here
    /// On another machine, whose `ffmount serve` makes the views.
    case server
    /// On another machine, while this one makes the views.
    case elsewhere
    /// Not mounted: `ffmount serve` shows it.
    case served
  }

  /// Throws a refusal of an option that is invalid for the mounted source.
  package func checkUse(_ origin: Origin) throws {
    if origin == .here, let option = given.intersection(ServerAccess.own).min() {
      throw Refusal(.usage, "-o \(option) is for a server that is mounted, as in: ffmount http://host:4200 MOUNTPOINT")
    }
    if origin == .server, server.isOffline {
      throw Refusal(.usage, "-o offline: nothing is kept of a tree that ffmount serve shows (leave it out)")
    }
    if origin == .server, let option = given.subtracting(ServerAccess.own.union(ServerAccess.shared)).min() {
      throw Refusal(.usage, "-o \(option) is for the server's machine (give it to ffmount serve there)")
    }
    if origin == .served, let option = given.intersection(ServerAccess.ofMounts).min() {
      throw Refusal(.usage, "-o \(option) is for a mountpoint, which ffmount serve does not have (leave it out)")
    }
    if origin == .elsewhere, tree.isWritable {
      throw Refusal(.usage, "-o rw: a source on another machine cannot be changed (leave it out)")
    }
  }

  /// The options of the mount of a source elsewhere, which only the mount that shows it reads.
  package var ofSource: MountOptions {
    var options = MountOptions()
    options.server = server
    options.tree.memory = tree.memory
    options.tree.cacheSize = tree.cacheSize
    options.unmountsAutomatically = true
    // For the workers, and the users that a mount of root for others reads as. Its folder is for root alone.
    options.allowsOthers = geteuid() == 0
    return options
  }
}
