import Bytes
import Catalogue
import Dispatch
import Files
import Glibc
import Jobs
import Synchronization
import TestSupport
import Testing

/// Renditions made by a worker that imitates `ffconvert`: see Tests/Scripts/fake_worker.py.
final class Workshop: Sendable {
  let scratch: MountScratch
  let renditions: ConversionService
  let notes = Notes()
  private let givesFiles: Bool
  var cacheFolder: String { scratch.path + "/cache/renditions" }

  /// With `spools`, inputs are ranges of files.
  init(
    _ change: (inout ConversionPool.Options) -> Void = { _ in }, cacheSize: Int64? = 1 << 30, spools: String? = nil,
    in scratch: MountScratch
  ) {
    givesFiles = spools != nil
    self.scratch = scratch
    var options = ConversionPool.Options(program: MountScratch.package + "/Tests/Scripts/fake_worker.py")
    options.workers = 1
    let lines = Lines()
    options.log = { line in lines.lines.withLock { $0.append(line) } }
    change(&options)
    said = lines
    let folder = scratch.path + "/cache/renditions"
    renditions = ConversionService(
      pool: ConversionPool(options), cache: cacheSize.map { DiskCache(folder: folder, maximumSize: $0) },
      spools: spools ?? scratch.path, notes: notes)
  }

  private let said: Lines
  var lines: [String] { said.lines.withLock { $0 } }

  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
  }

  final class Notes: ConversionNotes {
    private let values = Mutex<[UInt64: [Job.Work: Int64]]>([:])
    func value(of work: Job.Work, inState revision: UInt64) -> Int64? { values.withLock { $0[revision]?[work] } }
    func remark(of work: Job.Work, inState revision: UInt64) -> String? { nil }
    func note(_ value: Int64, remark: String?, of work: Job.Work, inState revision: UInt64, isLasting: Bool) {
      values.withLock { $0[revision, default: [:]][work] = value }
    }
  }

  /// Bytes in memory with an identity, like an entry of an archive.
  private final class Given: ByteSource {
    let bytes: ByteArraySource
    let revision: UInt64
    private let file: TemporaryFile?
    init(_ text: String, _ revision: UInt64, isInFile: Bool) throws(Fault) {
      file = isInFile ? try .inMemory() : nil
      bytes = ByteArraySource(Array(text.utf8))
      self.revision = revision
      guard let file else { return }
      var fault: Fault?
      unsafe Array(text.utf8).withUnsafeBytes { bytes in
        do throws(Fault) { unsafe try file.write(bytes, at: 0) } catch { fault = error }
      }
      if let fault { throw fault }
    }
    func extent(at offset: Int64, count: Int) -> Extent? {
      file.map { Extent(holder: $0, offset: offset, count: min(count, Int(size - offset))) }
    }
    var size: Int64 { bytes.size }
    var identity: ByteIdentity? {
      ByteIdentity(
        device: 1, inode: revision, size: size, modified: Timestamp(seconds: 1), changed: Timestamp(seconds: 1))
    }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault)
      -> Int
    {
      unsafe try bytes.read(into: buffer, at: offset, blocking)
    }
  }

  static func subject(
    _ text: String, _ revision: UInt64, owner: UInt32? = 0, isInFile: Bool = false
  ) -> ConversionService.Subject {
    ConversionService.Subject(
      revision: revision, owner: owner, path: { "file" },
      open: { (_) throws(Fault) in try Given(text, revision, isInFile: isInFile) })
  }

  /// Requests once; returns nil and a pending result if it is not made yet.
  func ask(
    _ text: String, _ revision: UInt64, _ recipe: Recipe = .text, owner: UInt32? = 0
  ) throws -> (made: ConversionResult?, pending: SharedOperation?) {
    do throws(Fault) {
      return (
        try renditions.open(recipe, of: Self.subject(text, revision, owner: owner, isInFile: givesFiles), .blocking),
        nil
      )
    } catch {
      guard case .pending(let pending) = error.kind else { throw error }
      return (nil, pending)
    }
  }

  /// Requests until there is a result. Blocks.
  func make(
    _ text: String, _ revision: UInt64, _ recipe: Recipe = .text, owner: UInt32? = 0
  ) throws -> ConversionResult {
    let (made, pending) = try ask(text, revision, recipe, owner: owner)
    // It retains the job's result for the next request.
    return try withExtendedLifetime(pending) {
      if let made { return made }
      try wait(pending)
      return try make(text, revision, recipe, owner: owner)
    }
  }

  struct Stuck: Error {}

  /// Throws after a timeout.
  func wait(_ pending: SharedOperation?) throws {
    let isDone = Atomic(false)
    try withExtendedLifetime(pending) {
      _ = pending?.whenDone { isDone.store(true, ordering: .releasing) }
      for _ in 0..<100_000 {
        if isDone.load(ordering: .acquiring) { return }
        _ = usleep(500)
      }
      throw Stuck()
    }
  }

  /// Stops the pool; throws after a timeout, so that a hanging pool fails its test and not the whole run.
  func stop() throws {
    let stopped = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { [renditions] in
      renditions.stop()
      stopped.signal()
    }
    guard stopped.wait(timeout: .now() + 60) == .success else { throw Stuck() }
  }

  /// The worker's output: its process ID, and the rest.
  static func parts(_ made: ConversionResult) throws -> (process: Substring, text: Substring) {
    let text = String(decoding: try made.bytes(at: 0, count: Int(made.size)), as: UTF8.self)
    let words = text.split(separator: " ", maxSplits: 1)
    return (words[0], words[1])
  }
}

/// Calls `body`, which may block, with a workshop and stops it afterwards: no process may be left.
func withWorkshop(
  _ change: @escaping @Sendable (inout ConversionPool.Options) -> Void = { _ in }, cacheSize: Int64? = 1 << 30,
  _ body: @escaping @Sendable (Workshop) throws -> Void
) async throws {
  try await withScratch { scratch in
    let before = children()
    let outcome = await offThread {
      let workshop = Workshop(change, cacheSize: cacheSize, in: scratch)
      let outcome = Result { try body(workshop) }
      return Result {
        try workshop.stop()
        try outcome.get()
      }
    }
    try outcome.get()
    #expect(children() == before)
  }
}

/// The number of workers among this process's children; other tests have children, too.
func children() -> Int {
  var count = 0
  guard let folder = unsafe opendir("/proc/self/task") else { return 0 }
  defer { unsafe closedir(folder) }
  while let entry = unsafe readdir(folder) {
    let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
      unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
    }
    guard let file = unsafe fopen("/proc/self/task/\(name)/children", "re") else { continue }
    defer { _ = unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 65536)
    if unsafe fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      count += text.split(separator: " ").filter { isWorker($0) }.count
    }
  }
  return count
}

private func isWorker(_ process: Substring) -> Bool {
  guard let file = unsafe fopen("/proc/\(process)/cmdline", "re") else { return false }
  defer { _ = unsafe fclose(file) }
  var words = [UInt8](repeating: 0, count: 4096)
  let count = unsafe fread(&words, 1, words.count, file)
  return String(decoding: words[..<count], as: UTF8.self).hasSuffix("/fake_worker.py\0")
}
