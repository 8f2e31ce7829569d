internal import Glibc

/// A private folder for one test, below TMPDIR: what runs the tests cleans up there.
public struct MountScratch: Sendable {
  public let path: String

  /// TMPDIR with symbolic links resolved, as in mountinfo.
  static let temporary: String = {
    let given = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
    guard let resolved = unsafe realpath(given, nil) else { return "/tmp" }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }()

  /// The project's root folder.
  public static let package = String(#filePath.dropLast("/Tests/TestSupport/MountScratch.swift".count))

  /// The system's own interpreter: the one in PATH may be a slow wrapper.
  public static let python = unsafe access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : "python3"

  public static let isRoot = geteuid() == 0

  public static func isWritable(_ folder: String) -> Bool { unsafe access(folder, W_OK) == 0 }
  public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  public static func has(_ program: String) -> Bool {
    let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/bin:/bin"
    return path.split(separator: ":").contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
  }

  public init() throws {
    var template = Array("\(Self.temporary)/mounted.XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { throw MountChild.Failure("mkdtemp: errno \(errno)") }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    for name in ["source", "mnt"] { _ = unsafe mkdir("\(path)/\(name)", 0o755) }
  }

  /// A folder below another one's SOURCE, with a SOURCE of its own, for a mount that several examples share.
  public init(_ name: String, in other: MountScratch) {
    path = "\(other.source)/\(name)"
    for folder in [path, path + "/source"] { _ = unsafe mkdir(folder, 0o755) }
  }

  public var source: String { path + "/source" }
  public var mountpoint: String { path + "/mnt" }

  /// Writes a file below SOURCE, and creates its parent folders.
  public func write(_ name: String, _ bytes: [UInt8]) throws {
    let full = "\(source)/\(name)"
    var folder = source
    for part in name.split(separator: "/").dropLast() {
      folder += "/\(part)"
      _ = unsafe mkdir(folder, 0o755)
    }
    try put(bytes, at: full, O_TRUNC)
  }

  /// Appends to a file.
  public func append(_ text: String, to name: String) throws {
    try put(Array(text.utf8), at: "\(source)/\(name)", O_APPEND)
  }

  private func put(_ bytes: [UInt8], at full: String, _ flag: Int32) throws {
    let file = unsafe open(full, O_WRONLY | O_CREAT | O_CLOEXEC | flag, 0o644)
    guard file >= 0 else { throw MountChild.Failure("open \(full): errno \(errno)") }
    defer { _ = close(file) }
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress! + done, $0.count - done) }
      guard count > 0 else { throw MountChild.Failure("write \(full): errno \(errno)") }
      done += count
    }
  }

  public func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }
  public func write(_ name: String, _ archive: ZipFixture) throws { try write(name, archive.bytes()) }

  /// Removes everything, except what is mounted.
  public func remove() {
    guard
      let child = try? MountChild(
        ["/bin/bash", "-c", "chmod -R u+rwX -- \"$1\" 2>/dev/null; rm -rf --one-file-system -- \"$1\"", "bash", path])
    else { return }
    for _ in 0..<6000 where child.isRunning { _ = usleep(5_000) }
  }
}

/// Calls `body` with a folder that is removed afterwards.
@discardableResult
public func withScratch<Value>(_ body: (MountScratch) async throws -> Value) async throws -> Value {
  let scratch = try MountScratch()
  do {
    let value = try await body(scratch)
    await offThread { scratch.remove() }
    return value
  } catch {
    await offThread { scratch.remove() }
    throw error
  }
}
