public import Bytes
internal import Glibc

extension Fault {
  public static let notFound = Fault(.system(ENOENT))
  public static let notFolder = Fault(.system(ENOTDIR))
  public static let isFolder = Fault(.system(EISDIR))
  public static let notLink = Fault(.system(EINVAL))
  public static let notOpened = Fault(.system(ENXIO))
  public static let noAttribute = Fault(.system(ENODATA))
  public static let notSupported = Fault(.system(EOPNOTSUPP))
  public static let stale = Fault(.system(ESTALE))
  /// The mount goes away while somebody waits.
  package static let ending = Fault(.system(ENODEV))

  /// Whether a name led nowhere, or to something else than before.
  var isAboutName: Bool { kind == .system(ENOENT) || kind == .system(ESTALE) || kind == .system(ENOTDIR) }

  /// Whether it may be that only the state is gone that something was made of.
  public var isOfEarlierState: Bool { kind == .changed || isAboutName }

  /// Whether it speaks of what a file contains, and so belongs in the log and in `user.ffmount.error`.
  public var concernsContent: Bool {
    switch kind {
    case .damaged, .changed, .unsupported, .locked, .limit: true
    case .later, .pending, .interrupted, .system: false
    }
  }
}
