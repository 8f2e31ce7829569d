import Bytes
import Files
import Glibc

/// Where what may be lost is kept for the next mount (XDG Base Directory Specification).
enum CacheFolder {
  /// nil when there is no such place, or none that is this user's, or it would be below `mountpoint`, if one is given: nobody
  /// may have to ask himself.
  static func path(awayFrom mountpoint: String? = nil) -> String? {
    guard let base = absolute("XDG_CACHE_HOME") ?? absolute("HOME").map({ $0 + "/.cache" }) else { return nil }
    // Under sudo the home may be another user's, who could not use what root puts there.
    if geteuid() == 0, let owner = owner(of: nearest(base)), owner != 0 { return nil }
    let folder = resolved(base) + "/ffmount"
    guard let mountpoint else { return folder }
    return (folder + "/").hasPrefix(mountpoint == "/" ? "/" : mountpoint + "/") ? nil : folder
  }

  /// Why a folder is not used: others could change what is kept in it. nil for one that is still to be made.
  static func objection(to folder: String) -> String? {
    do throws(Fault) {
      try OwnFolder.check(folder)
      return nil
    } catch { return error.kind == .system(ENOENT) ? nil : error.reason }
  }

  /// A relative path counts as none.
  private static func absolute(_ variable: String) -> String? {
    guard let value = unsafe getenv(variable) else { return nil }
    let path = unsafe String(cString: value)
    return path.hasPrefix("/") ? path : nil
  }

  /// The deepest folder on the way there that exists.
  private static func nearest(_ path: String) -> String {
    var path = path
    while path.count > 1, owner(of: path) == nil {
      path = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
      if path.isEmpty { path = "/" }
    }
    return path
  }

  /// Without links, as far as it exists.
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
