import Testing
import Tree

@testable import Mount

/// A process that lists folders, and the entries it gets.
private struct Lister {
  let habits: ReaddirPlusPolicy
  let process: Int32

  init(_ habits: ReaddirPlusPolicy = ReaddirPlusPolicy(), process: Int32 = 7) {
    self.habits = habits
    self.process = process
  }

  /// Lists names in several replies; returns for each whether it came with a node.
  @discardableResult
  func list(_ kinds: [Kind], answers: Int = 1, _ cost: AttributeCost = .small) -> [Bool] {
    var given: [Bool] = []
    let size = (kinds.count + answers - 1) / answers
    for start in stride(from: 0, to: kinds.count, by: size) {
      var choice = habits.choice(for: process, isStart: start == 0, cost)
      for kind in kinds[start..<min(kinds.count, start + size)] { given.append(choice.givesNode(to: kind)) }
      habits.note(choice, to: process)
    }
    return given
  }

  func list(files: Int, answers: Int = 1, _ cost: AttributeCost = .small) -> Int {
    list(Array(repeating: Kind.file, count: files), answers: answers, cost).count { $0 }
  }

  func ask(for kind: Kind, times: Int) { for _ in 0..<times { habits.noteLookup(of: kind, by: process) } }
}

@Suite struct ReaddirPlusPolicyTests {
  /// The number of files that first come without a node: a process that wants nodes looks them up.
  private static let probes = 8

  @Test func firstReplyReturnsNodesExceptProbes() {
    let given = Lister().list(Array(repeating: .file, count: 40))
    #expect(given == Array(repeating: false, count: Self.probes) + Array(repeating: true, count: 40 - Self.probes))
  }

  @Test func laterRepliesOfFirstDirectoryOmitNodes() {
    // Judged by its lookups after the first reply.
    let lister = Lister()
    #expect(lister.list(files: 40, answers: 4) == 10 - Self.probes)
  }

  @Test func lookupOfOneInEightEnablesNodes() {
    let asks = Lister()
    _ = asks.list(files: 40)
    asks.ask(for: .file, times: 5)
    #expect(asks.list(files: 30) == 30)
    #expect(asks.list([.folder, .file, .link], .large) == [true, true, true])
  }

  @Test(arguments: [(4, false), (5, true)]) func fiveLookupsAreRequiredToEnableNodes(asked: Int, isServed: Bool) {
    let lister = Lister()
    _ = lister.list(files: 40)
    lister.ask(for: .file, times: asked)
    #expect((lister.list(files: 30) == 30) == isServed)
  }

  /// Of `bare` files without a node, more than one in eight must have been looked up, or one in two where attributes
  /// are expensive.
  @Test(arguments: [
    (80, 10, AttributeCost.small, false), (80, 11, .small, true), (80, 40, .large, false), (80, 41, .large, true),
  ])
  func lookupShareDecidesWhetherNodesAreReturned(bare: Int, asked: Int, cost: AttributeCost, isServed: Bool) {
    let lister = Lister()
    #expect(lister.list(files: bare, .large) == 0)
    lister.ask(for: .file, times: asked)
    #expect((lister.list(files: 20, cost) == 20) == isServed)
  }

  @Test func expensiveAttributesAreNotReturnedSpeculatively() {
    #expect(Lister().list([.file, .folder, .file], .large) == [false, false, false])
  }

  @Test func freeAttributesAreReturnedUntilUnused() {
    let lister = Lister()
    #expect(lister.list(files: 100, .none) == 100 - Self.probes)
    // Continued with the next folder without a lookup: names are enough.
    #expect(lister.list(files: 100, .none) == 0)
    #expect(lister.list([.folder], .none) == [false])
  }

  @Test func probesWithoutLookupsDisableNodesInNextDirectory() {
    // Exactly as many as there are probes: all of them were listed.
    let lister = Lister()
    #expect(lister.list(files: Self.probes, .none) == 0)
    #expect(lister.list(files: 10, .none) == 0)
    // One less is not sufficient for a decision.
    let other = Lister()
    #expect(other.list(files: Self.probes - 1, .none) == 0)
    #expect(other.list(files: 10, .none) == 9)
  }

  @Test(arguments: [(4, false), (5, true)]) func enteringDirectoriesEnablesDirectoryNodes(entered: Int, isWalker: Bool)
  {
    let lister = Lister()
    _ = lister.list(Array(repeating: .file, count: 40))
    lister.ask(for: .folder, times: entered)
    let kinds: [Kind] = [.folder] + Array(repeating: .file, count: 10)
    #expect(lister.list(kinds) == [isWalker] + Array(repeating: false, count: 10))
    // In a folder that takes several replies, only those of the first one.
    let folders = Array(repeating: Kind.folder, count: 10)
    #expect(
      lister.list(folders, answers: 2) == Array(repeating: isWalker, count: 5) + Array(repeating: false, count: 5))
  }

  @Test func largeFirstDirectoryReturnsNodesAgain() {
    // After 4096 files without a node, a process that lists only one folder gets nodes once more.
    let lister = Lister()
    let kinds = Array(repeating: Kind.file, count: 6000)
    let given = lister.list(kinds, answers: 6000)
    #expect(!given[..<4096].contains(true) && given[4096...].allSatisfy { $0 })
    // Not in the second folder.
    #expect(!lister.list(kinds, answers: 600).contains(true))
  }

  @Test func speculativeNodesAreLimited() {
    let lister = Lister()
    let given = lister.list(Array(repeating: .file, count: 80_000), answers: 80_000)
    #expect(given.count { $0 } == 65_536)
    #expect(given.last == false)
  }

  @Test func processesAreJudgedSeparately() {
    let habits = ReaddirPlusPolicy()
    let one = Lister(habits, process: 1)
    _ = one.list(files: 40)
    one.ask(for: .file, times: 20)
    // Lookups of a process that has not listed a folder are ignored.
    let other = Lister(habits, process: 2)
    other.ask(for: .file, times: 20)
    #expect(other.list(files: 40) == 40 - Self.probes)
    #expect(one.list(files: 40) == 40)
  }

  /// Only a process that was seen to look up attributes may fill the kernel's cache with estimates.
  @Test func processWithoutLookupsIsNotProven() {
    let lister = Lister()
    func choice(isStart: Bool) -> ReaddirPlusPolicy.Choice {
      lister.habits.choice(for: lister.process, isStart: isStart, .small)
    }
    var first = choice(isStart: true)
    for _ in 0..<20 { _ = first.givesNode(to: .file) }
    #expect(!first.isProven && first.nodes == 12 && first.bare == Self.probes)
    lister.habits.note(first, to: lister.process)
    #expect(!choice(isStart: false).isProven)
    lister.ask(for: .file, times: 5)
    #expect(choice(isStart: false).isProven && choice(isStart: true).isProven)
  }

  @Test func namesChoiceReturnsNoNodes() {
    var choice = ReaddirPlusPolicy.Choice.names
    #expect(![Kind.file, .folder, .link].contains { choice.givesNode(to: $0) })
    #expect(!choice.isProven && choice.nodes == 0 && choice.bare == 2)
  }

  /// Folders are neither probes nor evidence of what is wanted of files.
  @Test func directoriesAreNotCountedAsFiles() {
    let lister = Lister()
    let kinds = Array(repeating: Kind.folder, count: 20) + Array(repeating: .file, count: 20)
    let given = lister.list(kinds)
    #expect(given[..<20].allSatisfy { $0 } && given[20...].count { !$0 } == Self.probes)
    lister.ask(for: .folder, times: 4)
    lister.ask(for: .file, times: 4)
    #expect(lister.list(files: 10) == 0)
  }

  /// Entries of a process are judged together, whichever folders they are in.
  @Test func lookupShareIsComputedAcrossDirectories() {
    let lister = Lister()
    #expect(lister.list(files: 40, .large) == 0)
    lister.ask(for: .file, times: 6)
    #expect(lister.list(files: 10) == 10)
    // What came with a node is not looked up, and so does not count as unwanted.
    #expect(lister.list(files: 1000) == 1000)
    #expect(lister.list(files: 10, .large) == 0)
    #expect(lister.list(files: 10) == 0)
  }

  @Test func numberOfRememberedProcessesIsLimited() {
    let habits = ReaddirPlusPolicy()
    let first = Lister(habits, process: 1)
    _ = first.list(files: 40)
    first.ask(for: .file, times: 20)
    for process in 2...256 { _ = Lister(habits, process: Int32(process)).list(files: 1) }
    #expect(first.list(files: 40) == 40)
    _ = Lister(habits, process: 1000).list(files: 1)
    #expect(first.list(files: 40) == 40 - Self.probes)
  }
}
