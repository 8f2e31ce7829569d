import AllViews
import Bytes
import Dispatch
import Files
import Glibc
import Logging
import Mount
import Synchronization
import TestSupport
import Testing

@testable import Tree

/// Replies whose caller no longer waits: the kernel has then counted neither node nor handle.
@Suite(.timeLimit(.minutes(5))) struct AbandonedAnswerTests {
  /// A file that counts how often it is open.
  private final class OneFile: Item {
    let inode: UInt64 = 9
    func accessList() throws(Fault) -> AccessList? { nil }
    let kind = Kind.file
    let isImmutable = true
    private let opened = Mutex<[Opened]>([])

    struct Opened: Sendable { weak var source: ByteArraySource? }

    var attributes: Attributes {
      Attributes(
        inode: inode, kind: kind, permissions: 0o644, links: 1, owner: 0, group: 0, size: 4, allocated: 1,
        accessed: Timestamp(seconds: 0), modified: Timestamp(seconds: 0), changed: Timestamp(seconds: 0))
    }

    var openCount: Int { opened.withLock { $0.count { $0.source != nil } } }

    func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { attributes }

    func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
      let source = ByteArraySource([1, 2, 3, 4])
      opened.withLock { $0.append(Opened(source: source)) }
      return source
    }
  }

  /// A folder in which names are found at once, except those that start with `slow`, which are found when the test
  /// signals.
  private final class OneFolder: Item {
    let file = OneFile()
    let inode: UInt64 = 8
    func accessList() throws(Fault) -> AccessList? { nil }
    let kind = Kind.folder
    let isImmutable = true
    let entered = DispatchSemaphore(value: 0)
    let goOn = DispatchSemaphore(value: 0)

    func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
      var attributes = file.attributes
      attributes.kind = .folder
      return attributes
    }

    func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
      guard name.text.hasPrefix("slow") else { return LookupResult(file, file.attributes) }
      if blocking == .immediate { throw .later }
      entered.signal()
      _ = goOn.wait(timeout: .now() + 20)
      return LookupResult(file, file.attributes)
    }
  }

  private final class Setup {
    let folder = OneFolder()
    let tree: Tree
    let mounted: MountedTree
    let kernel: FakeKernel
    /// The node count of a tree of which the kernel knows only the root.
    let before: Int

    init() throws {
      tree = Tree(root: folder, views: Views(listing: ViewListing(), depth: 0))
      before = tree.nodeCount
      mounted = MountedTree(tree, .init(), logger: Logger(label: "test"))
      kernel = try FakeKernel(mounted)
    }

    deinit { mounted.stop() }
  }

  @Test func eachLookupAddsOneNode() throws {
    let setup = try Setup()
    let answer = try setup.kernel.answer(to: setup.kernel.lookUp("file", in: 1))
    #expect(answer.errno == 0 && answer.node > 1)
    #expect(setup.tree.nodeCount == setup.before + 1)
    let slow = setup.kernel.lookUp("slow", in: 1)
    setup.folder.entered.wait()
    setup.folder.goOn.signal()
    #expect(try setup.kernel.answer(to: slow).errno == 0)
    #expect(setup.tree.nodeCount == setup.before + 2)
  }

  @Test func interruptedLookupLeavesNoNode() throws {
    let setup = try Setup()
    let question = setup.kernel.lookUp("slow", in: 1)
    setup.folder.entered.wait()
    setup.kernel.interrupt(question)
    #expect(try setup.kernel.answer(to: question).errno == EINTR)
    setup.folder.goOn.signal()
    // When the threads have ended, the entries they found have been forgotten.
    setup.mounted.stop()
    #expect(setup.tree.nodeCount == setup.before)
  }

  @Test func undeliveredLookupReplyLeavesNoNode() throws {
    let setup = try Setup()
    setup.kernel.takesAnswers = false
    for number in 0..<10 { _ = setup.kernel.lookUp("file \(number)", in: 1) }
    #expect(setup.tree.nodeCount == setup.before)
  }

  @Test func undeliveredOpenReplyLeavesNoHandle() throws {
    let setup = try Setup()
    let node = try setup.kernel.answer(to: setup.kernel.lookUp("file", in: 1)).node
    #expect(try setup.kernel.answer(to: setup.kernel.open(node)).errno == 0)
    // The counter works: this one is open until it is released.
    #expect(setup.folder.file.openCount == 1)
    setup.kernel.takesAnswers = false
    for _ in 0..<10 { _ = setup.kernel.open(node) }
    #expect(setup.folder.file.openCount == 1)
  }
}
