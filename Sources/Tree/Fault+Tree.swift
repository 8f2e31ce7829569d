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
  /// The mount ended while a request was waiting.
  package static let ending = Fault(.system(ENODEV))

  /// Whether a name does not exist or belongs to another item than before.
  var isAboutName: Bool { kind == .system(ENOENT) || kind == .system(ESTALE) || kind == .system(ENOTDIR) }

  /// Whether a change of the source may be the only cause.
  public var isOfEarlierState: Bool { kind == .changed || isAboutName }

  /// Whether this process lacks descriptors or memory, so that a later attempt can succeed.
  var isShortage: Bool { kind == .system(EMFILE) || kind == .system(ENFILE) || kind == .system(ENOMEM) }

  /// Whether a name with this fault can be listed without attributes. A caller that asks for them gets the fault.
  public var allowsName: Bool { !isDelay && !isShortage && !isOfEarlierState }

  /// Whether the fault concerns a file's content and therefore belongs in the log and in `user.ffmount.error`.
  public var concernsContent: Bool {
    switch kind {
    case .damaged, .changed, .unsupported, .locked, .limit: true
    case .later, .pending, .interrupted, .system: false
    }
  }
}
