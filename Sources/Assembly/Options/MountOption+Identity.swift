internal import Glibc

extension MountOption {
  /// A database of the system with numbers and names.
  package enum Identity {
    case user
    case group

    /// Returns the number of a user or group. Returns `nil` if the name does not exist.
    func number(named name: String) -> UInt32? {
      switch self {
      case .user:
        guard let entry = unsafe getpwnam(name) else { return nil }
        return unsafe entry.pointee.pw_uid
      case .group:
        guard let entry = unsafe getgrnam(name) else { return nil }
        return unsafe entry.pointee.gr_gid
      }
    }

    /// All names, in the order of the database. Must not be called by several threads concurrently.
    package var names: [String] {
      var names: [String] = []
      switch self {
      case .user:
        setpwent()
        while let entry = unsafe getpwent() { names.append(unsafe String(cString: entry.pointee.pw_name)) }
        endpwent()
      case .group:
        setgrent()
        while let entry = unsafe getgrent() { names.append(unsafe String(cString: entry.pointee.gr_name)) }
        endgrent()
      }
      return names
    }
  }
}
