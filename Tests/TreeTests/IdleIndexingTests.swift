import AllViews
import Bytes
import Files
import Foundation
import TestSupport
import Testing

@testable import FindViews
@testable import Index
@testable import Tree

/// The index of a tree that is kept up to date while the machine is idle.
@Suite struct IdleIndexingTests {
  /// Files that tell the state of a machine.
  private struct Machine {
    let folder: String

    var idleness: Idleness {
      Idleness(supplies: folder + "/power", pressure: folder + "/pressure", load: folder + "/load")
    }

    func write(_ name: String, _ text: String) throws {
      let path = "\(folder)/\(name)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data((text + "\n").utf8).write(to: URL(fileURLWithPath: path))
    }

    func add(_ supply: String, _ facts: [String: String]) throws {
      for (name, text) in facts { try write("power/\(supply)/\(name)", text) }
    }
  }

  private func withFolder(_ body: (String) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("idle-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    try body(path)
  }

  @Test func machineIsIdleWithPowerAndAnIdleProcessor() throws {
    try withFolder { path in
      let machine = Machine(folder: path)
      // Nothing tells that the processor is idle.
      #expect(machine.idleness.obstacle() == .processor)
      try machine.write("load", "0.00 0.10 0.20 1/300 4000")
      #expect(machine.idleness.obstacle() == nil)
      try machine.write("load", "900.00 0.10 0.20 1/300 4000")
      #expect(machine.idleness.obstacle() == .processor)
      // The pressure tells more than the load.
      try machine.write("pressure", "some avg10=0.12 avg60=50.00 avg300=2.00 total=123\nfull avg10=90.00")
      #expect(machine.idleness.obstacle() == nil)
      try machine.write("pressure", "some avg10=35.50 avg60=0.00 avg300=2.00 total=123")
      #expect(machine.idleness.obstacle() == .processor)
      try machine.write("pressure", "some avg10=0.00 avg60=0.00 avg300=2.00 total=123")
      // The battery of a mouse is not that of the machine.
      try machine.add("mouse", ["type": "Battery", "scope": "Device", "status": "Discharging"])
      #expect(machine.idleness.obstacle() == nil)
      try machine.add("BAT0", ["type": "Battery", "status": "Discharging"])
      #expect(machine.idleness.obstacle() == .power)
      try machine.add("AC", ["type": "Mains", "online": "0"])
      #expect(machine.idleness.obstacle() == .power)
      try machine.add("AC", ["online": "1"])
      #expect(machine.idleness.obstacle() == nil)
    }
  }

  private final class Trees: IndexedTrees {
    let inner: Tree
    init(_ inner: Tree) { self.inner = inner }
    func tree(recognizesText: Bool) throws(Fault) -> (tree: Tree, programs: ReadingPrograms) {
      (inner, .all)
    }
    func stop() { inner.stop() }
  }

  @Test(.timeLimit(.minutes(5))) func indexIsMadeOnlyWhileTheMachineIsIdle() throws {
    try withFolder { path in
      try FileManager.default.createDirectory(atPath: path + "/source", withIntermediateDirectories: true)
      for number in 0..<50 {
        try Data("needle \(number)".utf8).write(to: URL(fileURLWithPath: "\(path)/source/\(number).txt"))
      }
      let machine = Machine(folder: path + "/machine")
      try machine.write("pressure", "some avg10=80.00 avg60=0.00 avg300=2.00 total=123")
      let index = Index(folder: path + "/cache")
      defer { index.finish(within: .seconds(5)) }
      func tree(_ searches: FindService? = nil) throws -> Tree {
        let root = try RealRoot(
          Descriptor.open(path: path + "/source", for: .place), pool: DescriptorPool(capacity: 64))
        return try Tree(mirroring: root, views: Views(index: index, searches: searches))
      }
      let service = FindService.searching(index, shared: nil, by: Trees(try tree()), isOfFile: false)
      let shown = try tree(service)
      #expect(shown.searches === service)
      let finder = try service.finder([])
      service.indexWhileIdle(machine.idleness)
      while shown.work.activities.first?.recipe != "waits for an idle processor" { Thread.sleep(forTimeInterval: 0.02) }
      #expect(shown.work.activities.map(\.kind) == [.documents])
      #expect(finder.count == 0)
      try machine.write("pressure", "some avg10=0.00 avg60=0.00 avg300=2.00 total=123")
      while try finder.results(FindQuery("needle")).numbers.count < 50 { Thread.sleep(forTimeInterval: 0.02) }
      while !shown.work.activities.isEmpty { Thread.sleep(forTimeInterval: 0.02) }
      shown.stop()
    }
  }

  /// A search does not wait for work that yields.
  @Test(.timeLimit(.minutes(5))) func searchTakesOver() throws {
    try withFolder { path in
      try FileManager.default.createDirectory(atPath: path + "/source", withIntermediateDirectories: true)
      for number in 0..<50 {
        try Data("needle \(number)".utf8).write(to: URL(fileURLWithPath: "\(path)/source/\(number).txt"))
      }
      let machine = Machine(folder: path + "/machine")
      try machine.write("pressure", "some avg10=0.00 avg60=0.00 avg300=2.00 total=123")
      let index = Index(folder: path + "/cache")
      defer { index.finish(within: .seconds(5)) }
      let root = try RealRoot(
        Descriptor.open(path: path + "/source", for: .place), pool: DescriptorPool(capacity: 64))
      let inner = try Tree(mirroring: root, views: Views(index: index))
      let service = FindService.searching(index, shared: nil, by: Trees(inner), isOfFile: false)
      service.indexWhileIdle(machine.idleness)
      try machine.write("pressure", "some avg10=80.00 avg60=0.00 avg300=2.00 total=123")
      let page = try service.page(
        of: FindQuery("needle"), below: [], from: 0, atMost: 100, within: .seconds(50), until: .now + .seconds(50))
      #expect(page.hits.count == 50 && page.percent == nil && page.count == 50)
      service.stop()
    }
  }
}
