import AllViews
import Bytes
import Catalogue
import Foundation
import Glibc
import Jobs
import RenditionViews
import Rotation
import Synchronization
import TestSupport
import Testing
import Tree

/// Files that are read while they are made, and files of which only what is read is made.
@Suite(.timeLimit(.minutes(5))) struct EarlyReadingTests {
  private static let text = String(repeating: "0123456789", count: 40)

  /// Calls `body` with a tree of texts that the tests' own family converts, and that family's service.
  private func withTree<Value: Sendable>(
    _ body: @escaping @Sendable (TreeInProcess, Conversions) throws -> Value
  ) async throws -> Value {
    try await offThread {
      Result {
        let source = try SourceFolder()
        for start in ["M", "U", "BAD"] { try source.write(FileName("\(start).txt"), Array((start + Self.text).utf8)) }
        var options = ConversionPool.Options(program: "/nonexistent")
        options.catalogue = Catalogue(formats: Rotation.formats, conversions: Rotation.conversions)
        options.programs["ffrotate"] = MountProcess.program("ffrotate")
        options.isSandboxWeak = true
        let conversions = Conversions(options, cache: nil, index: nil, spools: "/tmp")
        let tree = try TreeInProcess(source, conversions: conversions)
        defer { tree.tree.stop() }
        return try body(tree, conversions)
      }
    }.get()
  }

  private struct Reading: Sendable, Equatable {
    /// What was known when it was opened.
    var size: Int64
    var isKnown: Bool
    /// Whether the conversion was going on after some of the first bytes were read, and after the last.
    var wasUnderWay: [Bool]
    var text = ""
    var fault: String?
  }

  /// Reads a file as it comes.
  private static func read(_ path: FileName, isPatient: Bool, _ tree: TreeInProcess, _ conversions: Conversions) throws
    -> Reading
  {
    try tree.withNode(path) { node in
      let file = try tree.ask { (blocking) throws(Fault) in
        try tree.tree.open(node, isPatient: { isPatient }, blocking)
      }
      var reading = Reading(size: file.source.size, isKnown: file.source.hasKnownSize, wasUnderWay: [])
      var bytes: [UInt8] = []
      var isEnd = false
      while !isEnd, reading.fault == nil {
        do {
          let more = try tree.ask { (blocking) throws(Fault) in
            try file.source.partialBytes(at: Int64(bytes.count), count: bytes.isEmpty ? 10 : 100_000, blocking)
          }
          isEnd = more.isEmpty
          bytes += more
        } catch { reading.fault = "\(error)" }
        if bytes.count == 10 || isEnd { reading.wasUnderWay.append(!tree.tree.work.activities.isEmpty) }
      }
      reading.text = String(decoding: bytes, as: UTF8.self)
      return reading
    }
  }

  /// A size that can be measured is told beforehand, and everybody reads what there is.
  @Test func fileOfMeasuredSizeIsReadDuringConversion() async throws {
    let (size, reading) = try await withTree { tree, conversions in
      // A stat by name would measure it.
      try tree.withNode("M.txt.as-drip") { node in
        try tree.ask { (blocking) throws(Fault) in try tree.tree.findSize(of: node, .look, blocking) }
      }
      return (try tree.stat("M.txt.as-drip").size, try Self.read("M.txt.as-drip", isPatient: false, tree, conversions))
    }
    #expect(size == 401)
    #expect(reading == Reading(size: 401, isKnown: true, wasUnderWay: [true, false], text: "M" + Self.text))
  }

  /// Of any other the size is known when it is made: players do without, and others wait.
  @Test func onlyPlayersReadFileOfUnknownSizeEarly() async throws {
    let (early, late) = try await withTree { tree, conversions in
      let early = try Self.read("U.txt.as-drip", isPatient: true, tree, conversions)
      return (early, try Self.read("U.txt.as-drip", isPatient: false, tree, conversions))
    }
    #expect(early == Reading(size: early.size, isKnown: false, wasUnderWay: [true, false], text: "U" + Self.text))
    #expect(early.size > 401)
    #expect(late == Reading(size: 401, isKnown: true, wasUnderWay: [false, false], text: "U" + Self.text))
  }

  /// Who waits for all of it and who reads ahead share one making.
  @Test func waitersAndPlayersShareOneConversion() async throws {
    let (early, whole, made) = try await withTree { tree, conversions in
      let early = Mutex<Result<Reading, any Error>?>(nil)
      let reader = Thread {
        let result = Result { try Self.read("U.txt.as-drip", isPatient: true, tree, conversions) }
        early.withLock { $0 = result }
      }
      reader.start()
      let whole = try Self.read("U.txt.as-drip", isPatient: false, tree, conversions)
      while !reader.isFinished { _ = usleep(1000) }
      return (try early.withLock { $0 }?.get(), whole, tree.tree.work.made)
    }
    #expect(early?.text == "U" + Self.text)
    #expect(whole.text == "U" + Self.text && whole.isKnown)
    #expect(made == 1)
  }

  /// A reader of what fails in the middle gets what there is, and then the reason.
  @Test func failureDuringConversionEndsReadWithError() async throws {
    let reading = try await withTree { tree, conversions in
      try Self.read("BAD.txt.as-drip", isPatient: true, tree, conversions)
    }
    #expect(reading.text == ("BAD" + Self.text).prefix(300))
    #expect(reading.fault?.contains("\(EIO)") ?? false, "\(reading)")
  }

  /// The last reader's going ends the making.
  @Test func unusedConversionIsCancelled() async throws {
    let (isUnderWay, made) = try await withTree { tree, _ in
      try tree.withNode("U.txt.as-drip") { node in
        let file = try tree.ask { (blocking) throws(Fault) in
          try tree.tree.open(node, isPatient: { true }, blocking)
        }
        _ = try file.source.partialBytes(at: 0, count: 10, .blocking)
      }
      for _ in 0..<100 where !tree.tree.work.activities.isEmpty { _ = usleep(10_000) }
      _ = usleep(500_000)
      return (!tree.tree.work.activities.isEmpty, tree.tree.work.made)
    }
    #expect(!isUnderWay)
    #expect(made == 0)
  }

  /// Ten parts of forty megabytes, in any order.
  @Test func partsAreConvertedAsTheyAreRead() async throws {
    let text = "M" + Self.text
    let (size, parts, made) = try await withTree { tree, _ in
      let offsets = [399, 0, 200, 3, 1, 2].map { Int64($0 * Rotation.stretch) + 99_990 }
      let parts = try offsets.map { try tree.read("M.txt.as-tens", at: $0, count: 20) }
      return (try tree.stat("M.txt.as-tens").size, parts, tree.tree.work.made)
    }
    #expect(size == Int64(401 * Rotation.stretch))
    let expected = [399, 0, 200, 3, 1, 2].map { index -> [UInt8] in
      let bytes = Array(text.utf8)
      return Array(repeating: bytes[index], count: 10) + Array(repeating: bytes[index + 1], count: 10)
    }
    #expect(parts == expected)
    #expect(made < 20)
  }
}
