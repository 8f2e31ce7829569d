internal import Files
public import FuseLink
internal import Tree

/// Serving a mount until it ends.
extension MountedTree {
  /// The parameters for serving a mount.
  public struct Service: Sendable {
    /// The path of the mountpoint.
    public var mountpoint: String
    /// The mount options of libfuse and the kernel.
    public var options: [String]
    public var isDebugging = false
    public var threads = 10
    /// The time without use after which `unmount` is called, in seconds. `nil` for never.
    public var idleTime: Int?
    /// Unmounts, unless the mount is in use. Blocks until unmounted.
    public var unmount: @Sendable () -> Void = {}

    /// The handover from the previous process and to the next. `nil` if this process is the only one.
    public var legacy: Handover?

    public init(mountpoint: String, options: [String]) {
      self.mountpoint = mountpoint
      self.options = options
    }
  }

  /// Whether the descriptor limit permits additional threads. Each thread that has spliced keeps a pipe. Otherwise,
  /// descriptors are left to files.
  public static var hasDescriptors: Bool { DescriptorPool.processLimit >= 1024 }

  /// Mounts and answers requests until the mount is gone or a signal ends it, then calls `ending`. Blocks.
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
