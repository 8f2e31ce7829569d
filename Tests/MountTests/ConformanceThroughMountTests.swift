import TestSupport
import Testing

/// The cases of the contract, which TreeTests run in process, through a real mount.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ConformanceThroughMountTests {
  @Test(arguments: Conformance.cases) func mountMeetsTheConformanceRules(_ rule: ConformanceCase) async throws {
    // The check blocks, so it must not use a thread that other tests need.
    do { try await offThread { Swift.Result { try Self.check(rule) } }.get() } catch let missing as CannotBeShown {
      try Test.cancel("\(skipped(missing.reason))")
    }
  }

  private static func check(_ rule: ConformanceCase) throws {
    var mounts: [MountProcess] = []
    var folders: [MountScratch] = []
    defer {
      for mount in mounts { mount.stop() }
      for folder in folders { folder.remove() }
    }
    try rule.run { source, rule in
      let folder = try MountScratch()
      folders.append(folder)
      let mount = try MountProcess(
        blockingOn: rule.file.map { "\(source.path)/\($0)" } ?? source.path, at: folder.mountpoint,
        options: rule.options.arguments)
      mounts.append(mount)
      return try MountAgent(mount.mountpoint)
    }
    for mount in mounts { #expect(mount.stop() == 0) }
  }
}
