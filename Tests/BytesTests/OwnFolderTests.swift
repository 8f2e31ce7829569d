import Files
import Glibc
import TestSupport
import Testing

@Suite struct OwnFolderTests {
  private func isOwn(_ path: String, making: Bool = false) -> Bool {
    (try? OwnFolder.check(path, making: making)) != nil
  }

  @Test func permissionsOfEveryParentDirectoryAreChecked() async throws {
    try await withScratch { scratch in
      let (top, inner) = (scratch.path + "/a", scratch.path + "/a/b")
      #expect(!isOwn(inner))
      #expect(isOwn(inner, making: true) && isOwn(inner))
      for (rights, isOurs) in [(0o755, true), (0o770, false), (0o702, false), (0o1777, true), (0o700, true)] {
        #expect(unsafe chmod(top, mode_t(rights)) == 0)
        #expect(isOwn(inner) == isOurs, "\(String(rights, radix: 8))")
      }
      // Nobody else may create files in the last folder, even if they cannot remove any.
      #expect(unsafe chmod(inner, 0o1777) == 0)
      #expect(!isOwn(inner))
      #expect(unsafe chmod(inner, 0o700) == 0 && symlink("a", scratch.path + "/link") == 0)
      #expect(!isOwn(scratch.path + "/link/b") && !isOwn(scratch.path + "/link") && !isOwn("a") && !isOwn(""))
    }
  }

  @Test(.enabled("only root can give a folder away") { MountScratch.isRoot })
  func directoryOfAnotherUserIsNotTrusted() async throws {
    try await withScratch { scratch in
      let (top, inner) = (scratch.path + "/a", scratch.path + "/a/b")
      #expect(isOwn(inner, making: true))
      #expect(unsafe chown(top, 12345, 12345) == 0)
      #expect(!isOwn(inner))
      #expect(unsafe chown(top, 0, 0) == 0 && chown(inner, 12345, 12345) == 0)
      #expect(!isOwn(inner))
    }
  }

  /// A file that others may write to, own, or reach by another name could be theirs.
  @Test func onlyFilesOfThisUserAloneAreOwn() async throws {
    try await withScratch { scratch in
      let path = scratch.path + "/file"
      #expect(!OwnFolder.isOwn(file: path))
      try scratch.write("../file", "x")
      for permission: mode_t in [0o400, 0o200, 0o100, 0o40, 0o20, 0o10, 0o4, 0o2, 0o1] {
        #expect(unsafe chmod(path, 0o600 | permission) == 0)
        #expect(OwnFolder.isOwn(file: path) == (permission & 0o022 == 0), "\(String(permission, radix: 8))")
      }
      #expect(unsafe chmod(path, 0o600) == 0 && OwnFolder.isOwn(file: path))
      #expect(unsafe link(path, path + "2") == 0 && !OwnFolder.isOwn(file: path))
      #expect(unsafe unlink(path + "2") == 0 && OwnFolder.isOwn(file: path))
      #expect(unsafe symlink(path, path + "2") == 0 && !OwnFolder.isOwn(file: path + "2"))
      #expect(!OwnFolder.isOwn(file: scratch.path))
      if MountScratch.isRoot { #expect(unsafe chown(path, 12345, 0) == 0 && !OwnFolder.isOwn(file: path)) }
    }
  }

  @Test func keyIsCreatedOnceAndPrivateToOwner() async throws {
    try await withScratch { scratch in
      var key = try OwnKey.key(in: scratch.path)
      #expect(key.count == 32 && Set(key).count > 8)
      #expect(try OwnKey.key(in: scratch.path) == key)
      for change in [
        "rm key", "truncate -s 5 key", "chmod 640 key", "ln key other", "rm key; ln -s other key", "rm key; mkfifo key",
      ] {
        _ = try await shell("cd \"$1\" && \(change)", scratch.path)
        let other = try OwnKey.key(in: scratch.path)
        #expect(other != key && other.count == 32, "\(change)")
        #expect(try OwnKey.key(in: scratch.path) == other)
        _ = try await shell("cd \"$1\" && rm -f other", scratch.path)
        key = other
      }
    }
  }
}
