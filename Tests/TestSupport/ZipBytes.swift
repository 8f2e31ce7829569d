public import Foundation
internal import Synchronization

/// Whether two runs of bytes are alike; quick without an optimizer, unlike `==`.
public func areSame(_ one: [UInt8], _ other: ArraySlice<UInt8>) -> Bool {
  guard one.count == other.count else { return false }
  return unsafe one.withUnsafeBytes { one in
    unsafe other.withUnsafeBytes { other in
      unsafe one.count == 0 || memcmp(one.baseAddress!, other.baseAddress!, one.count) == 0
    }
  }
}

/// Runs `body` on `count` threads of their own at a time; throws the first failure. What `body` holds is let go by then.
public func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) throws {
  let failure = Mutex<(any Error)?>(nil)
  let held = HeldBody(body)
  let group = DispatchGroup()
  for index in 0..<count {
    group.enter()
    let thread = Thread {
      do { try held.run(index) } catch { failure.withLock { $0 = $0 ?? error } }
      group.leave()
    }
    thread.start()
  }
  group.wait()
  held.letGo()
  if let error = failure.withLock({ $0 }) { throw error }
}

/// A thread lets go of its closure some time after it has run.
private final class HeldBody: Sendable {
  private let body: Mutex<(@Sendable (Int) throws -> Void)?>

  init(_ body: @escaping @Sendable (Int) throws -> Void) { self.body = Mutex(body) }

  func run(_ index: Int) throws { try body.withLock { $0 }?(index) }
  func letGo() { body.withLock { $0 = nil } }
}

/// Where the files handed out beside the project are; nil on a machine without them.
public let sharedCorpus: URL? = {
  let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()
  let corpus = package.deletingLastPathComponent().appendingPathComponent("shared/corpus")
  return FileManager.default.fileExists(atPath: corpus.path) ? corpus : nil
}()
