import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct SavingTests {
  private static let isRoot = geteuid() == 0

  /// The value of `getfattr`, or else nil.
  private func run(_ command: String, in sample: Sample) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "cd '\(sample.path(""))' && \(command)"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(command)")
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func saveKeepsOwnerACLAndAttributes() async throws {
    let sample = try Sample()
    let tree = sample.tree
    try sample.make(
      by: """
        open('file', 'w').write('old')
        os.chmod('file', 0o640)
        os.setxattr('file', 'user.comment', b'kept\\0bytes')
        os.setxattr('file', 'user.empty', b'')
        # r-- for user 1234, rw- for group 5678, a mask of r--
        import struct
        def entry(tag, perm, id=0xffffffff): return struct.pack('<HHI', tag, perm, id)
        acl = struct.pack('<I', 2) + entry(1, 6) + entry(2, 4, 1234) + entry(4, 4) + entry(8, 6, 5678) + entry(16, 4) + entry(32, 0)
        os.setxattr('file', 'system.posix_acl_access', acl)
        if os.geteuid() == 0:
          os.chown('file', 1234, 5678)
          os.setxattr('file', 'trusted.comment', b'secret')
        """)
    let show = """
      python3 -c "import os; s = os.stat('file'); print(oct(s.st_mode), s.st_uid, s.st_gid)
      for n in sorted(os.listxattr('file')): print(n, os.getxattr('file', n))"
      """
    let before = try run(show, in: sample)
    #expect(before.contains("user.comment") && before.contains("system.posix_acl_access"))
    #expect(!Self.isRoot || before.contains("1234 5678") && before.contains("trusted.comment"))
    let inode = try await tree.attributes(of: "file").inode
    try await tree.save(Array("new".utf8), to: "file")
    #expect(try run(show, in: sample) == before)
    #expect(try sample.bytes(of: "file") == Array("new".utf8))
    #expect(try await tree.attributes(of: "file").inode != inode)
    try sample.write("copied", to: "other")
    try await tree.copy("other", to: "file", replacing: true)
    #expect(try run(show, in: sample) == before)
    try await tree.save(tree.chunks(of: "other", size: 2), to: "file")
    #expect(try run(show, in: sample) == before)
    #expect(try sample.bytes(of: "file") == Array("copied".utf8))
    #expect(try sample.names() == ["file", "other"])
  }

  /// A new file gets the default access list of its folder, which the replaced one need not have.
  @Test func saveDoesNotAddDefaultACL() async throws {
    let sample = try Sample()
    try sample.make(
      by: """
        import struct
        open('file', 'w').close()
        os.chmod('file', 0o600)
        def entry(tag, perm, id=0xffffffff): return struct.pack('<HHI', tag, perm, id)
        acl = struct.pack('<I', 2) + entry(1, 7) + entry(2, 7, 1234) + entry(4, 7) + entry(16, 7) + entry(32, 7)
        os.setxattr('.', 'system.posix_acl_default', acl)
        """)
    try await sample.tree.save([1], to: "file")
    try await sample.tree.save([1], to: "new")
    let show =
      "python3 -c \"import os; print(os.listxattr('file'), oct(os.stat('file').st_mode), os.listxattr('new'))\""
    #expect(try run(show, in: sample) == "[] 0o100600 ['system.posix_acl_access']\n")
  }

  @Test func saveKeepsSpecialBitsOnlyForRoot() async throws {
    let sample = try Sample()
    try sample.make(
      by: "open('file', 'w').close()\nos.chmod('file', 0o6755)\nos.utime('file', ns=(10**18, 10**18))")
    try await sample.tree.save([1], to: "file")
    let attributes = try await sample.tree.attributes(of: "file")
    #expect(attributes.permissions.rawValue == (Self.isRoot ? 0o6755 : 0o755))
    #expect(attributes.modified > FileTree.Time(seconds: 1_600_000_000))
  }

  @Test func savedChunksAppearAtomically() async throws {
    let sample = try Sample()
    let tree = sample.tree
    try sample.write("old", to: "file")
    let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
    async let saved: Void = tree.save(stream, to: "file")
    for number in 0..<5 as Range<UInt8> {
      continuation.yield([number, number])
      #expect(try sample.bytes(of: "file") == Array("old".utf8))
    }
    continuation.finish()
    try await saved
    #expect(try sample.bytes(of: "file") == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    #expect(try sample.names() == ["file"])
  }

  @Test func failedOrCancelledSaveKeepsOldFile() async throws {
    struct Failed: Error {}
    let sample = try Sample()
    let tree = sample.tree
    try sample.write("old", to: "file")
    let failing = AsyncThrowingStream<[UInt8], any Error> { continuation in
      continuation.yield([1])
      continuation.finish(throwing: Failed())
    }
    await #expect(throws: Failed.self) { try await tree.save(failing, to: "file") }
    #expect(try sample.names() == ["file"])
    let (endless, continuation) = AsyncStream<[UInt8]>.makeStream(bufferingPolicy: .bufferingOldest(1))
    let task = Task { try await tree.save(endless, to: "file") }
    continuation.yield([1])
    // There is room for the second chunk once the first has been taken.
    while case .dropped = continuation.yield([2]) { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    // A cancelled task continues at once. A call in progress removes its temporary file when it ends.
    while try sample.names() != ["file"] { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try sample.bytes(of: "file") == Array("old".utf8))
  }

  /// The permissions of the file that is being written: it has no name, or a temporary one where the file system does not
  /// permit that.
  private func unfinishedMode(in sample: Sample) throws -> UInt16? {
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").map { "/proc/self/fd/\($0)" }
    let unnamed = open.filter { path in
      let target = (try? FileManager.default.destinationOfSymbolicLink(atPath: path)) ?? ""
      return target.hasPrefix(sample.path("")) && target.hasSuffix("(deleted)")
    }
    let named = try sample.names().filter { $0.hasSuffix(".part") }.map { sample.path($0) }
    guard let path = (unnamed + named).first else { return nil }
    var status = stat()
    return unsafe stat(path, &status) == 0 ? UInt16(status.st_mode & 0o777) : nil
  }

  /// Users that may not read the old file cannot read the new one before it has the old one's permissions.
  @Test(arguments: [true, false]) func unfinishedFileIsAsPrivateAsTheOldOne(isThere: Bool) async throws {
    let sample = try Sample()
    if isThere { try sample.make(by: "open('file', 'w').close()\nos.chmod('file', 0o640)") }
    let (chunks, continuation) = AsyncStream<[UInt8]>.makeStream()
    let task = Task { try await sample.tree.save(chunks, to: "file") }
    continuation.yield([1])
    var mode = try unfinishedMode(in: sample)
    while mode == nil {
      try await Task.sleep(for: .milliseconds(1))
      mode = try unfinishedMode(in: sample)
    }
    let umask = try #require(try UInt16(run("umask", in: sample).split(separator: "\n").joined(), radix: 8))
    #expect(mode == (isThere ? 0o600 : 0o666 & ~umask))
    continuation.finish()
    try await task.value
    #expect(try await sample.tree.attributes(of: "file").permissions.rawValue == (isThere ? 0o640 : 0o666 & ~umask))
  }

  @Test func saveWithoutReplacingKeepsExistingFile() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    try await tree.save([1], to: "file", replacing: false)
    try sample.makeLink("broken", to: "nowhere")
    for path in ["file", "broken"] as [FilePath] {
      await expectError(.alreadyExists, path) { () throws(FileTreeError) in
        try await tree.save([2], to: path, replacing: false)
      }
      await #expect(throws: FileTreeError.self) {
        try await tree.save(tree.chunks(of: "letters.zip"), to: path, replacing: false)
      }
    }
    #expect(try sample.bytes(of: "file") == [1])
    #expect(try sample.names() == ["broken", "file", "letters.zip"])
    await #expect(throws: FileTreeError.self) {
      try await tree.save(tree.chunks(of: "file"), to: "letters.zip.contents/new")
    }
  }

  /// Many savers of one name: one of the files is there, whole, and nothing else.
  @Test func concurrentSavesDoNotMix() async throws {
    let sample = try Sample()
    let tree = sample.tree
    try await tree.save([], to: "file")
    try await tree.setAttributes(.init(permissions: [.ownerReadWrite, .groupRead]), of: "file")
    try await tree.setExtendedAttribute("user.note", to: [1], of: "file")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 as Range<UInt8> {
        group.addTask { try await tree.save([UInt8](repeating: number, count: 100_000), to: "file") }
      }
      try await group.waitForAll()
    }
    let bytes = try sample.bytes(of: "file")
    #expect(bytes.count == 100_000 && Set(bytes).count == 1)
    #expect(try await tree.attributes(of: "file").permissions == [.ownerReadWrite, .groupRead])
    #expect(try await tree.extendedAttribute("user.note", of: "file") == [1])
    #expect(try sample.names() == ["file"])
  }
}
