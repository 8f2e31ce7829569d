import Assembly
import Bytes
import FileTrees
import Files
import Glibc

/// A validated source, mountpoint and options. Errors are reported before anything is done.
struct MountPlan {
  let shown: ShownSource
  let mountpoint: String
  let options: MountOptions

  init(source: String, mountpoint: String, _ options: MountOptions) throws {
    self.options = options
    try options.checkUse(isServer: false)
    try RunningMount.expectAnswers(onTheWayTo: [source], toDo: "show")
    try options.checkWriting()
    shown = try ShownSource(source)
    if options.isWritable, !shown.isFolder {
      throw Refusal(.sourceUnsuitable, "cannot show \(source) with -o rw: views of a file cannot be changed")
    }
    let place = try Mountpoint(mountpoint)
    self.mountpoint = place.path
    try checkApart(mountpoint)
    try place.check(options)
  }

  /// Creates the plan of an existing mount that this process takes over. Makes no requests to the mount, since only
  /// this process can answer them.
  ///
  /// - Parameters: those of an earlier plan.
  init(takingOver source: String, _ mountpoint: String, _ options: MountOptions) throws {
    self.options = options
    self.mountpoint = mountpoint
    shown = try ShownSource(source)
  }

  /// The absolute path, with symbolic links resolved.
  var source: String { shown.path }

  /// Returns whether the mount is supervised, so that another process starts when the serving one dies. By default,
  /// only mounts in the background are supervised.
  func isKept(inForeground: Bool) -> Bool {
    options.isKept ?? (!inForeground && !options.unmountsAutomatically && Supervision.isPossible)
  }

  private func checkApart(_ given: String) throws {
    func isInside(_ inner: String, _ outer: String) -> Bool {
      inner == outer || inner.hasPrefix(outer.hasSuffix("/") ? outer : outer + "/")
    }
    let advice = "use a mountpoint elsewhere, so that the mount does not show itself"
    if isInside(mountpoint, source) {
      throw Refusal(.mountpointUnusable, "cannot mount on \(given): inside the source \(source) (\(advice))")
    }
    if isInside(source, mountpoint) {
      throw Refusal(.mountpointUnusable, "cannot mount on \(given): the source \(source) is inside it (\(advice))")
    }
  }
}
