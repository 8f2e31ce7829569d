import TestSupport
import Testing

/// Checksums of the files in archives and folders, as sha256sum checks them.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SumsTests {
  private static let make = """
    mkdir -p "$1/source/real/d/e"; cd "$1/source/real"; seq 200000 > d/numbers; : > empty; echo hello > d/e/hello
    ln -s d/numbers link; ln d/numbers again
    echo x > 'ä ö.txt'; tar -cf ../a.tar .; tar -czf ../a.tar.gz .; (cd ..; zip -qr nested.zip a.tar real/d)
    echo odd > 'back\\slash'; echo odd > $'new\\nline'

    """

  @Test("sha256sum checks a list of an archive's files, and of a folder's") func sumsAreRight() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          (cd real && find . -type f -printf '%P\\0' | sort -z | xargs -0 sha256sum) | sort > "$2/expected"
          sort real.sha256 | cmp - "$2/expected"; grep -v slash "$2/expected" | grep -v nline > "$2/plain"
          (cd real && sha256sum -c --quiet ../real.sha256 && echo real)
          for s in a.tar.sha256 a.tar.gz.sha256 nested.zip.contents/a.tar.sha256; do
            sort $s | cmp - "$2/plain" && stat -c %s $s | cmp - <(cat $s | wc -c) && echo $s
          done
          (cd a.tar.contents && sha256sum -c --quiet ../a.tar.sha256 && echo checked)
          sha256sum < nested.zip.contents/real/d/numbers | cut -c 1-64 | grep -c -f - nested.zip.sha256
          tail -n 1 nested.zip.sha256 | cut -c 67-; ls | grep -c sha256; cat real/link.sha256 2>&1 | grep -o 'No such file'
          sort a.tar.contents.sha256 | cmp - "$2/plain" && echo folder; cat a.tar.contents/d.sha256 | wc -l
          """, scratch)
        #expect(
          said == """
            real
            a.tar.sha256
            a.tar.gz.sha256
            nested.zip.contents/a.tar.sha256
            checked
            1
            real/d/numbers
            0
            No such file
            folder
            2

            """)
      }
    }
  }

  /// A list that is opened after a change is that of the files as they are, or stale where its name is not looked up.
  @Test(arguments: [
    "echo changed > real/d/e/hello", "touch real/d/e/new", "rm real/d/e/hello", "mv real/d/e real/d/f",
    "tar -C real -cf new.tar d; mv new.tar a.tar", "tar -C real -rf a.tar d/e/hello",
  ])
  func openedListFollowsItsFiles(_ change: String) async throws {
    try await withScratch { scratch in
      let made = try await shell(
        "mkdir -p \"$1/source/real/d/e\"; cd \"$1/source\"; echo hello > real/d/e/hello; seq 9 > real/d/n; tar -cf a.tar real",
        scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cat > $O/held.py <<'END'
          import os, subprocess, sys
          def read(path):
              try: return open(path).read()
              except OSError as error: return os.strerror(error.errno)
          names = ["real.sha256", "a.tar.sha256"]
          held = [f"/proc/self/fd/{os.open(name, os.O_PATH)}" for name in names]
          before = [read(name) for name in names]
          subprocess.run(sys.argv[2], shell=True, cwd=sys.argv[1], check=True)
          for name, path, old, folder in zip(names, held, before, ["real", "a.tar.contents"]):
              new, reopened = read(name), read(path)
              print(name, "changed" if new != old else "same", reopened in (new, "Stale file handle"),
                    subprocess.run(["sha256sum", "-c", "--quiet"], cwd=folder, input=new, text=True).returncode)
          END
          python3 $O/held.py "$S" '\(change)'
          """, scratch)
        let isArchive = change.hasPrefix("tar")
        #expect(
          said == """
            real.sha256 \(isArchive ? "same" : "changed") True 0
            a.tar.sha256 \(isArchive ? "changed" : "same") True 0

            """)
      }
    }
  }

  /// A file that cannot be read makes its line an error, and no other.
  @Test func unreadableFileFailsItsLine() async throws {
    try await withScratch { scratch in
      let make = """
        mkdir -p "$1/source"; cd "$1/source"; seq 40000 > b; seq 50000 > c; for i in $(seq 5000); do echo $i > a$i; done
        zip -q0 x.zip a* b c; python3 - <<'END'
        data = bytearray(open("x.zip", "rb").read()); data[data.index(b"39999\\n40000")] ^= 1; open("x.zip", "wb").write(data)
        END
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          head -n 1 x.zip.sha256 | cut -c 67-; tail -n 1 x.zip.sha256 2>&1 | grep -o 'Input/output error'
          getfattr --only-values -n user.ffmount.error x.zip.sha256 | grep -o 'x.zip: b .*found'
          """, scratch)
        #expect(said.hasPrefix("a1\nInput/output error\nx.zip: b "), "\(said)")
      }
    }
  }
}
