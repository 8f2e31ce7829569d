import Bytes
import Conversion
import Files
import Glibc
import Synchronization
import TestSupport

/// Renditions made by a worker that plays `ffconvert`: see Tests/Scripts/fake_worker.py.
final class Workshop: Sendable {
  let scratch: MountScratch
  let renditions: Renditions
  let notes = Notes()
  var cacheFolder: String { scratch.path + "/cache/renditions" }

  init(
    _ change: (inout ConversionPool.Options) -> Void = { _ in }, cacheSize: Int64? = 1 << 30, in scratch: MountScratch
  ) {
    self.scratch = scratch
    var options = ConversionPool.Options(program: MountScratch.package + "/Tests/Scripts/fake_worker.py")
    options.workers = 1
    let lines = Lines()
    options.log = { line in lines.lines.withLock { $0.append(line) } }
    change(&options)
    said = lines
    let folder = scratch.path + "/cache/renditions"
    renditions = Renditions(
      pool: ConversionPool(options), cache: cacheSize.map { RenditionCache(folder: folder, maximumSize: $0) },
      spools: scratch.path, notes: notes)
  }

  private let said: Lines
  var lines: [String] { said.lines.withLock { $0 } }

  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
  }

  final class Notes: RenditionNotes {
    private let values = Mutex<[UInt64: [Job.Work: Int64]]>([:])
    func value(of work: Job.Work, inState revision: UInt64) -> Int64? { values.withLock { $0[revision]?[work] } }
    func note(_ value: Int64, remark: String?, of work: Job.Work, inState revision: UInt64, isLasting: Bool) {
      values.withLock { $0[revision, default: [:]][work] = value }
    }
  }

  /// Bytes in memory that name themselves, as an entry of an archive does.
  private final class Given: ByteSource {
    let bytes: ByteArraySource
    let revision: UInt64
    init(_ text: String, _ revision: UInt64) {
      bytes = ByteArraySource(Array(text.utf8))
      self.revision = revision
    }
    var size: Int64 { bytes.size }
    var identity: ByteIdentity? {
      ByteIdentity(device: 1, inode: revision, size: size, modified: Timestamp(seconds: 1))
    }
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ patience: Patience) throws(Fault) -> Int {
      unsafe try bytes.read(into: buffer, at: offset, patience)
    }
  }

  static func subject(_ text: String, _ revision: UInt64) -> Renditions.Subject {
    Renditions.Subject(revision: revision) { _ in Given(text, revision) }
  }

  /// Asks once; nil and what to wait for when it is not there yet.
  func ask(_ text: String, _ revision: UInt64, _ recipe: Recipe = .text) throws -> (made: Rendition?, pending: Pending?)
  {
    do throws(Fault) {
      return (try renditions.open(recipe, of: Self.subject(text, revision), .blocking), nil)
    } catch {
      guard case .pending(let pending) = error.kind else { throw error }
      return (nil, pending)
    }
  }

  /// Asks until there is an answer. Blocks.
  func make(_ text: String, _ revision: UInt64, _ recipe: Recipe = .text) throws -> Rendition {
    var last: Pending?
    while true {
      let (made, pending) = try ask(text, revision, recipe)
      if let made { return withExtendedLifetime(last) { made } }
      wait(pending)
      last = pending
    }
  }

  func wait(_ pending: Pending?) {
    let isDone = Atomic(false)
    withExtendedLifetime(pending) {
      _ = pending?.whenDone { isDone.store(true, ordering: .releasing) }
      while !isDone.load(ordering: .acquiring) { _ = usleep(500) }
    }
  }

  /// What the worker wrote: its process, and the rest.
  static func parts(_ made: Rendition) throws -> (process: Substring, text: Substring) {
    let text = String(decoding: try made.bytes(at: 0, count: Int(made.size)), as: UTF8.self)
    let words = text.split(separator: " ", maxSplits: 1)
    return (words[0], words[1])
  }
}

/// Workers whose parent this process is; other tests have children, too.
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
