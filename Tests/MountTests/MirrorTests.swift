import TestSupport
import Testing

/// Real files are mirrored unchanged.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MirrorTests {
  @Test func attributesOfUnusualFilesMatchTheSource() async throws {
    try await withScratch { scratch in
      try await script("make_odd_tree.py", scratch.source)
      try await withMount(scratch, options: ["-o", "views=-png"]) { mount in
        try await script("compare_trees.py", scratch.source, mount.mountpoint)
        // Again, from the kernel's caches.
        try await script("compare_trees.py", scratch.source + "/odd", mount.mountpoint + "/odd")
        if !MountProcess.isWritable {
          try await script("refused_writes.py", mount.mountpoint, "odd/attributes/file", "odd/attributes")
        }
        try await checkTools(scratch, mount)
      }
      let rest = try await run("find", scratch.source, "-newer", scratch.source + "/repo/run.sh", "-name", "new*")
      #expect(!rest.text.contains("/new\n"))
    }
  }

  /// A terabyte with little data is copied in the time for that data, because holes are reported.
  @Test func holesOfSparseFilesAreReported() async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "views=none"]) { mount in
        let lines = """
          truncate -s 1T "$S/image"
          for at in 0 7 500000 1048575; do printf 'data %d' $at | dd of="$S/image" bs=1M seek=$at conv=notrunc status=none; done
          python3 -Ic '
          import os, sys
          maps = []
          for path in sys.argv[1:]:
              file, place, found = os.open(path, os.O_RDONLY), 0, []
              while True:
                  try: start = os.lseek(file, place, os.SEEK_DATA)
                  except OSError as error: found.append(error.errno); break
                  place = os.lseek(file, start, os.SEEK_HOLE)
                  found.append((start, place))
              maps.append(found)
          print(len(maps[0]), maps[0] == maps[1])' "$S/image" image
          cp image "$O/copy" && stat -c %s "$O/copy"
          for at in 0 7 500000 1048575; do dd if="$O/copy" bs=1M skip=$at count=1 status=none | head -c 14 | tr -d '\\0'; echo; done
          """
        let said = try await mount.shell(lines, scratch)
        #expect(said == "5 True\n1099511627776\ndata 0\ndata 7\ndata 500000\ndata 1048575\n")
      }
    }
  }

  /// Common tools must see no difference; each line has the same output natively and mounted.
  private static let sameOutput = [
    "find plain repo -printf '%p %y %m %s %T@ %n %i %l\\n' | sort",
    "find plain -type f -print0 | sort -z | xargs -0 sha1sum",
    "tar --sort=name --numeric-owner -c plain | sha1sum",
    "grep -rc needle3 plain | sort; grep -rlZ 'line 499' plain | tr '\\0' '\\n' | sort",
    "du -a plain | sort -k 2; du -s --apparent-size repo",
    "file plain/picture.png plain/folder*/text.txt plain/link plain/empty odd/fifo odd/socket",
    "stat -c '%n %A %U %G %s %y %t:%T' odd/fifo odd/socket odd/l* odd/null 2>&1",
    "wc -c plain/*/*.bin; cat plain/*/*.txt | md5sum; head -c 100 plain/hard | od -c; tail -c 50 plain/folder*/9.bin | od -c",
    "ls -lR --time-style=full-iso plain",
    "cd repo; git log --oneline; git fsck 2>&1; git diff; git ls-files -s",
  ]

  private func checkTools(_ scratch: MountScratch, _ mount: MountProcess) async throws {
    for line in Self.sameOutput {
      let lines = "export GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent LC_ALL=C.UTF-8; cd \"$1\" && \(line)"
      let native = try await shell(lines, scratch.source)
      let mounted = try await shell(lines, mount.mountpoint)
      #expect(!native.bytes.isEmpty)
      // `ls` and `file` print the start folder nowhere.
      #expect(native.text == mounted.text, "\(line)")
      #expect(native.errors == mounted.errors, "\(line)")
    }
    let diff = try await run("diff", "-r", "--no-dereference", scratch.source + "/plain", mount.mountpoint + "/plain")
    #expect(diff.status == 0)
    #expect(diff.text + diff.errors == "")
    let status = try await shell(
      "GIT_CONFIG_NOSYSTEM=1 HOME=/nonexistent git -C \"$1\" status --porcelain", mount.mountpoint + "/repo")
    #expect(status.status == 0)
    #expect(status.text + status.errors == "")

    let copies = scratch.path + "/copies"
    let rsync = "mkdir -p \"$2\"; rsync -aH --checksum --itemize-changes \"$1/plain\" \"$1/repo\" \"$2\""
    let first = try await shell(rsync, mount.mountpoint, copies)
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.lines.count > 200)
    let second = try await shell(rsync, mount.mountpoint, copies)
    #expect(second.status == 0)
    #expect(second.text == "", "the second rsync transfers nothing")
    let copy = try await shell("cp -a \"$1\" \"$2\"", mount.mountpoint + "/plain", copies + "/cp")
    #expect(copy.status == 0, "\(copy.errors)")
    try await script("compare_trees.py", "--copy", scratch.source + "/plain", copies + "/cp")
    try await script("compare_trees.py", "--copy", scratch.source + "/plain", copies + "/plain")
  }

  @Test func hundredThousandEntriesAreListedExactly() async throws {
    try await withScratch { scratch in
      // Hard links to a few files: quick to create.
      let made = try await shell(
        """
        mkdir "$1/many" && cd "$1/many" && exec "$2" -c '
        import os
        for number in range(5): open(f"../{number}", "w").close()
        for number in range(1, 100_001): os.link(f"../{number % 5}", f"entry {number:06}.txt")'
        """, scratch.source, MountScratch.python)
      #expect(made.status == 0)
      try await withMount(scratch) { mount in
        let lines = "LC_ALL=C ls -U -1 \"$1/many\" | tee >(wc -l >&2) | sort | sha1sum"
        let native = try await shell(lines, scratch.source)
        let mounted = try await shell(lines, mount.mountpoint)
        #expect(native.text == mounted.text)
        #expect(mounted.errors == "100000\n")
        let byName = try await shell(
          "cd \"$1/many\" && stat -c %n 'entry 000001.txt' 'entry 100000.txt'", mount.mountpoint)
        #expect(byName.status == 0)
        #expect(try await run("stat", mount.mountpoint + "/many/entry 100001.txt").status == 1)
      }
    }
  }

  /// readdir with seekdir and telldir, and rewinddir after a change, as used by file servers.
  @Test func directoryCanBeReadFromAnyOffset() async throws {
    try await withScratch { scratch in
      for number in 0..<150 { try scratch.write("\(number).zip", "") }
      try await withMount(scratch) { mount in
        try await script("seek_folder.py", mount.mountpoint, "300")
      }
    }
  }

  /// More files that have to be opened for a listing than descriptors are kept.
  @Test func directoryWithoutExtensionsCanBeReadFromAnyOffset() async throws {
    try await withScratch { scratch in
      for number in 0..<700 { try scratch.write("\(number)", "text") }
      try await withMount(scratch) { mount in
        try await script("seek_folder.py", mount.mountpoint, "700")
      }
    }
  }

  @Test func statfsMatchesTheSource() async throws {
    try await withScratch { scratch in
      try await withMount(scratch) { mount in
        let native = try await run("stat", "-f", "-c", "%b %s %S %l", scratch.source)
        let mounted = try await run("stat", "-f", "-c", "%b %s %S %l", mount.mountpoint)
        #expect(mounted.text == native.text)
        let listed = try await run("findmnt", "-n", "-o", "FSTYPE,SOURCE", "--list", mount.mountpoint)
        #expect(listed.text.split(separator: " ").map(String.init) == ["fuse.ffmount", scratch.source + "\n"])
      }
    }
  }

  @Test func fifoIsShownButNotConnectedToTheSource() async throws {
    try await withScratch { scratch in
      _ = try await run("mkfifo", scratch.source + "/fifo")
      try await withMount(scratch) { mount in
        // Opening must not reach the source's own fifo: a writer there would be connected to a reader here.
        let read = try await shell(
          "timeout 0.3 cat \"$1/fifo\" & sleep 0.1; timeout 0.1 bash -c 'echo x > \"$0/fifo\"' \"$2\"; echo $?",
          mount.mountpoint, scratch.source)
        #expect(read.text == "124\n")
      }
    }
  }

  @Test func symlinksKeepTheirTargetsAndAreNotFollowed() async throws {
    try await withScratch { scratch in
      try scratch.write("inside/file", "x")
      _ = try await shell(
        "cd \"$1\"; ln -s inside to; ln -s /etc/hostname out; ln -s ../../../../../../../../etc up; mkdir d; "
          + "ln -s ../inside/file d/file", scratch.source)
      try await withMount(scratch) { mount in
        let found = try await shell(
          "cd \"$1\"; readlink to out up d/file; cat to/file d/file; find . -type l | wc -l", mount.mountpoint)
        #expect(found.text == "inside\n/etc/hostname\n../../../../../../../../etc\n../inside/file\nxx4\n")
      }
    }
  }

  /// getxattr(2) and listxattr(2): a buffer of the exact size succeeds, a shorter one gives ERANGE.
  @Test func extendedAttributesFitBuffersOfTheirSize() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("x", "y")))
      let lines = """
        "\(MountScratch.python)" -c '
        import ctypes, errno, os
        libc = ctypes.CDLL(None, use_errno=True)
        path = b"a.zip.contents/x"
        for call, more in ((libc.getxattr, (b"user.ffmount.view",)), (libc.listxattr, ())):
            size = call(path, *more, None, 0)
            said = []
            for count in (size - 1, size, size + 1):
                got = call(path, *more, ctypes.create_string_buffer(size + 1), count)
                said.append(got == size or errno.errorcode[ctypes.get_errno()])
            print(size > 4, *said)'
        """
      try await withMount(scratch) { mount in
        let said = try await mount.shell(lines, scratch)
        #expect(said == "True ERANGE True True\nTrue ERANGE True True\n")
      }
    }
  }
}
