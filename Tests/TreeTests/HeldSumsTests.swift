import AllViews
import Bytes
import Files
import TestSupport
import Testing
import Threads
import Tree

/// Lists of checksums that were looked up before a file changed.
@Suite struct HeldSumsTests {
  private static let view: FileName = "f.sha256"

  /// The time of a folder does not change with the bytes of its files.
  @Test func listOfAFolderFollowsTheBytesOfItsFiles() throws {
    let source = try SourceFolder()
    try source.makeFolder("f")
    try source.write("f/a", "one")
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    let tree = try Tree(
      mirroring: root, views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()))
    let held = try tree.lookUp(Self.view, in: Tree.root, .blocking)
    try source.write("f/a", "three")
    #expect(throws: Fault.self) { try tree.attributes(held.node, .blocking) }
    let now = try tree.lookUp(Self.view, in: Tree.root, .blocking)
    #expect(try tree.attributes(now.node, .blocking).0.size == held.attributes.size)
  }
}
