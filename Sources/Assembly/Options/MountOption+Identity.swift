internal import Glibc

extension MountOption {
  /// What has a number and a name in the system's databases.
  package enum Identity {
    case user
    case group

    /// The number that has a name; nil if there is none.
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

    /// All names, in the databases' order. Not for several threads at once.
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
