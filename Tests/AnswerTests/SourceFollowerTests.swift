import AllViews
import Bytes
import Files
import Synchronization
import TestSupport
import Testing
import Threads
import Tree

@testable import Mount

/// The changes of open files that the kernel has to notice.
@Suite(.timeLimit(.minutes(5))) struct SourceFollowerTests {
  private final class Refreshed: Sendable {
    private let paths = Mutex<[UInt64]>([])
    var all: [UInt64] { paths.withLock { $0 } }
    func add(_ generation: UInt64) { paths.withLock { $0.append(generation) } }
  }

  /// A file may change between its opening and the start of its watch; each change later is noticed, too.
  @Test func changesSinceTheOpeningAreNoticed() async throws {
    let source = try SourceFolder()
    let names: [FileName] = ["same", "early", "late"]
    for name in names { try source.write(name, "bytes of \(name.text)") }
    let root = try RealRoot(Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 16))
    let tree = try Tree(
      mirroring: root, views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()))
    defer { tree.stop() }
    let files = try names.map { name in
      try waiting { () throws(Fault) in
        try tree.open(tree.lookUp(name, in: Tree.root, .blocking).node, .blocking)
      }
    }
    try source.write("early", "other bytes")
    let refreshed = Refreshed()
    let follower = SourceFollower { refreshed.add($0.generation) }
    defer { follower.stop() }
    for file in files { follower.add(file) }
    func wait(for count: Int) async throws {
      for _ in 0..<200 where refreshed.all.count < count { try await Task.sleep(for: .milliseconds(50)) }
    }
    try await wait(for: 1)
    #expect(refreshed.all == [files[1].generation])
    try source.write("late", "others, too")
    try await wait(for: 2)
    #expect(refreshed.all == [files[1].generation, files[2].generation])
    withExtendedLifetime(files) {}
  }
}
