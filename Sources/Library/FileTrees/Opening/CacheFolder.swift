internal import Bytes
internal import Files
internal import Glibc

/// The cache directory shared by all mounts, whose contents may be deleted (XDG Base Directory Specification).
package enum CacheFolder {
  /// Returns the path of the directory. Returns `nil` if there is none, or it belongs to another user. Also returns
  /// `nil` if it would be below `mountpoint`: the daemon must not send requests to itself.
  package static func path(awayFrom mountpoint: String? = nil) -> String? {
    guard let base = absolute("XDG_CACHE_HOME") ?? absolute("HOME").map({ $0 + "/.cache" }) else { return nil }
    // With sudo, the home directory may belong to another user. Files that root creates there would be unusable.
    if geteuid() == 0, let owner = owner(of: nearest(base)), owner != 0 { return nil }
    let folder = resolved(base) + "/ffmount"
    guard let mountpoint else { return folder }
    return (folder + "/").hasPrefix(mountpoint == "/" ? "/" : mountpoint + "/") ? nil : folder
  }

  /// Returns the reason why a directory cannot be used: others could change its contents. Returns `nil` if it can be
  /// used, or does not exist yet.
  package static func objection(to folder: String) -> String? {
    do throws(Fault) {
      try OwnFolder.check(folder)
      return nil
    } catch { return error.kind == .system(ENOENT) ? nil : error.reason }
  }

  /// Returns the reason why a directory cannot be the cache of several machines: that of `objection(to:)`, or that it is
  /// missing and this user cannot make it. Its parent is not made, since that may be where a file system is mounted.
  package static func objection(toShared folder: String) -> String? {
    let parent = folder.lastIndex(of: "/").map { String(folder[..<$0]) } ?? ""
    let canExist = unsafe access(parent.isEmpty ? "/" : parent, W_OK) == 0
    return canExist || owner(of: folder) != nil
      ? objection(to: folder) : "\(folder) does not exist, and cannot be created (create it, or check the path)"
  }

  /// Returns the path in an environment variable. Relative paths are ignored.
  private static func absolute(_ variable: String) -> String? {
    guard let value = unsafe getenv(variable) else { return nil }
    let path = unsafe String(cString: value)
    return path.hasPrefix("/") ? path : nil
  }

  /// Returns the deepest existing ancestor of a path.
  private static func nearest(_ path: String) -> String {
    var path = path
    while path.count > 1, owner(of: path) == nil {
      path = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
      if path.isEmpty { path = "/" }
    }
    return path
  }

  /// Returns the path with symbolic links resolved as far as it exists.
  private static func resolved(_ path: String) -> String {
    let near = nearest(path)
    guard let found = unsafe realpath(near, nil) else { return path }
    defer { unsafe free(found) }
    let start = unsafe String(cString: found)
    return (start == "/" ? "" : start) + path.dropFirst(near == "/" ? 0 : near.count)
  }

  private static func owner(of path: String) -> uid_t? {
    var status = stat()
    return unsafe stat(path, &status) == 0 ? status.st_uid : nil
  }
}
