import TestSupport
import Testing

/// Several users in one mount, with and without a supervisor: see check_access.py. The first request that a process
/// of a supervised mount gets may be of another user, and its kernel may know attributes that it has not sent itself.
@Suite(.serialized, .timeLimit(.minutes(10)), .enabled("only root can be several users") { MountScratch.isRoot })
struct AccessTests {
  @Test("who may not read a file learns nothing from its views") func usersSeeOnlyViewsOfReadableFiles() async throws {
    try await withScratch { scratch in
      _ = try await shell("chmod 755 \"$1\"", scratch.path)
      try await script("check_access.py", "make", scratch.source)
      try await withConverter(scratch, "workers=2,allow_other", isSupervised: true) { mount in
        let said = try await script("check_access.py", "check", scratch.source, mount.mountpoint, limit: 240).text
        let lines = said.split(separator: "\n")
        #expect(lines.count == 1 && lines.last?.hasSuffix(" questions") == true, "\(said)")
      }
    }
  }

  /// See noninterference.py.
  @Test(arguments: [false, true]) func viewsOfUnreadableFilesAreIndistinguishable(isSupervised: Bool) async throws {
    try await withScratch { scratch in
      _ = try await shell("chmod 755 \"$1\"", scratch.path)
      try await withConverter(scratch, "workers=2,allow_other", isSupervised: isSupervised) { mount in
        let said = try await script("noninterference.py", scratch.source, mount.mountpoint, limit: 240).text
        #expect(said == "done\n", "\(said.prefix(6000))")
      }
    }
  }

  /// A public archive or mailbox that becomes private is private at once, also where the kernel and the mount know it
  /// as public.
  @Test(arguments: ["", ",rw"], [false, true])
  func revokedPermissionsApplyToViewsImmediately(_ more: String, isSupervised: Bool) async throws {
    try await withScratch { scratch in
      _ = try await shell("chmod 755 \"$1\"", scratch.path)
      try await withMount(scratch, options: ["-o", "allow_other" + more], isSupervised: isSupervised) { mount in
        let said = try await script("made_private.py", scratch.source, mount.mountpoint, limit: 120).text
        #expect(said == "done\n", "\(said)")
      }
    }
  }

  /// See open_sizes.py.
  @Test(arguments: ["", ",rw"], [false, true])
  func openFilesThatBecomePrivateShowNothingNew(_ more: String, isSupervised: Bool) async throws {
    try await withScratch { scratch in
      _ = try await shell("chmod 755 \"$1\"", scratch.path)
      try await withMount(scratch, options: ["-o", "allow_other" + more], isSupervised: isSupervised) { mount in
        let said = try await script("open_sizes.py", scratch.source, mount.mountpoint).text
        #expect(said == "done\n", "\(said)")
      }
    }
  }

  @Test("access lists hold, less what umask= takes away") func umaskAlsoRestrictsACLs() async throws {
    try await withScratch { scratch in
      try scratch.write("letter.txt", "text")
      let lines = """
        chmod 755 "$1"; chmod 640 "$1/source/letter.txt"
        "$2" -c '
        import os, struct, sys
        rights = [(1, 6, -1), (2, 4, 2002), (4, 4, -1), (16, 4, -1), (32, 4, -1)]
        data = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", t, p, i & 0xffffffff) for t, p, i in rights)
        os.setxattr(sys.argv[1], "system.posix_acl_access", data)' "$1/source/letter.txt"
        """
      let made = try await shell(lines, scratch.path, MountScratch.python)
      try #require(made.status == 0, "\(made.errors)")
      let read = """
        for id in 2002 2003; do
          setpriv --reuid $id --regid $id --clear-groups cat letter.txt; echo
        done
        """
      try await withMount(scratch, options: ["-o", "allow_other"]) { mount in
        let said = try await mount.shell(read, scratch)
        #expect(said == "text\ntext\n")
      }
      try await withMount(scratch, options: ["-o", "allow_other,umask=004"]) { mount in
        let said = try await mount.shell(read, scratch)
        #expect(said == "text\ncat: letter.txt: Permission denied\n\n")
      }
    }
  }
}
