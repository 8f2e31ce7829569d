internal import Files
public import FuseLink
internal import Tree

/// A mount from its beginning to its end.
extension MountedTree {
  /// How a mount is served.
  public struct Service: Sendable {
    /// Where.
    public var mountpoint: String
    /// Those of libfuse and the kernel.
    public var options: [String]
    public var isDebugging = false
    public var threads = 10
    /// After how many seconds without use `unmount` is called; nil for never.
    public var idleTime: Int?
    /// Unmounts, unless the mount is in use. Blocks until it has.
    public var unmount: @Sendable () -> Void = {}

    /// What there is of the process before, and goes to the one after; nil if this one is alone.
    public var legacy: Legacy?

    public init(mountpoint: String, options: [String]) {
      self.mountpoint = mountpoint
      self.options = options
    }
  }

  /// Whether there are so few descriptors that they are left to files: each thread that has spliced keeps a pipe.
  public static var hasDescriptors: Bool { DescriptorPool.processLimit >= 1024 }

  /// Mounts, and answers until the mount is gone or a signal ends it; then calls `ending`. Blocks.
  public func serve(_ service: Service, _ ending: () -> Void) throws(Session.Failure) -> Session.Ending {
    let session = try Session(
      self, options: service.options, isDebugging: service.isDebugging,
      legacy: service.legacy)
    try session.mount(at: service.mountpoint)
    attach(session)
    let idleness = service.idleTime.map { seconds in
      Session.Idleness(time: .seconds(seconds), unmount: service.unmount)
    }
    return session.run(
      threads: service.threads, evenHeldUp: Self.hasDescriptors ? 192 : 0, idleness: idleness, ending)
  }
}
