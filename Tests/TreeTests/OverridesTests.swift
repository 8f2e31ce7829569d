import Bytes
import Testing

@testable import Tree

@Suite struct OverridesTests {
  @Test(arguments: [Kind.file, .folder, .link, .fifo]) func umaskAppliesToAllButLinks(_ kind: Kind) {
    let time = Timestamp(seconds: 1)
    let attributes = Attributes(
      inode: 1, kind: kind, permissions: 0o1777, links: 1, owner: 5, group: 6, size: 1, allocated: 1, accessed: time,
      modified: time, changed: time)
    var overrides = Overrides()
    #expect(overrides.applied(to: attributes).permissions == 0o1777)
    (overrides.folderMask, overrides.fileMask) = (0o077, 0o027)
    let shown: UInt16 = kind == .link ? 0o1777 : kind == .folder ? 0o1700 : 0o1750
    #expect(overrides.applied(to: attributes).permissions == shown)
    #expect(overrides.applied(to: attributes).owner == 5 && overrides.applied(to: attributes).group == 6)
    (overrides.owner, overrides.group) = (0, 9)
    #expect(overrides.applied(to: attributes).owner == 0 && overrides.applied(to: attributes).group == 9)
  }
}
