import TestSupport
import Testing

/// Archives in several files, as `zip -s` and 7z create them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SplitArchiveTests {
  /// A tree of about 400 KB of incompressible data, and split archives of it: the directory, an entry and a name cross
  /// the boundaries of parts.
  private static let make = """
    mkdir -p "$1/tree/d"; cd "$1/tree"
    for n in 1 2 3 4 5 6; do head -c 70000 /dev/urandom > d/$n.bin; done
    for n in $(seq 400); do echo $n > d/a-name-that-makes-the-directory-long-$n.txt; done
    find . | LC_ALL=C sort | zip -q -s 64k ../source/a.zip -@ && zip -q -r -0 -s 64k -P secret ../source/LOCKED.ZIP d/1.bin d/2.bin
    7z a -bd -v50k ../source/b.zip . > ../7z.txt && 7z a -bd -tzip -mx0 -v50k ../source/c.zip . > ../7z.txt || exit
    cd ../source; mv LOCKED.z01 LOCKED.Z01; mv LOCKED.z02 LOCKED.Z02
    mkdir deep; zip -q -0 deep/outer.zip a.z?? a.zip
    split -b 100 -a 3 --numeric-suffixes=1 /etc/services disk.img.; ls > ../listed
    """

  @Test("a split archive is one tree") func splitArchivesAreReadAsOneTree() async throws {
    try await withScratch { scratch in
      let password = "umask 077; echo secret > \"$1/password\"; umask 022; "
      let made = try await shell(password + Self.make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch, options: ["-o", "password_file=\(scratch.path)/password"]) { mount in
        let said = try await mount.shell(
          """
          ls -d *.contents
          diff -r a.zip.contents "$2/tree" && diff -r b.zip.001.contents "$2/tree" && echo same
          diff -r c.zip.001.contents "$2/tree" && echo stored alike
          diff -r deep/outer.zip.contents/a.zip.contents "$2/tree" && echo same within an archive
          cmp LOCKED.ZIP.contents/d/1.bin "$2/tree/d/1.bin" && cmp LOCKED.ZIP.contents/d/2.bin "$2/tree/d/2.bin" && echo opened
          for f in a.z0? LOCKED.[zZ]0?; do stat -c %n $f.contents 2>>$O/errors; done
          stat disk.img.001.contents 2>&1; stat -c %F a.z01
          """, scratch)
        #expect(
          said == """
            LOCKED.ZIP.contents
            a.zip.contents
            b.zip.001.contents
            c.zip.001.contents
            same
            stored alike
            same within an archive
            opened
            stat: cannot statx 'disk.img.001.contents': No such file or directory
            regular file

            """)
      }
      // The same as the root of a mount.
      try await withMount(scratch.source + "/b.zip.001", at: scratch.mountpoint) { mount in
        let said = try await mount.shell("diff -r . \"$2/tree\" && echo same", scratch)
        #expect(said == "same\n")
      }
    }
  }

  @Test func missingOrChangedPartIsDetected() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make + "; mv a.z03 ../kept", scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          for n in 1 2 3 4 5 6; do
            cmp a.zip.contents/d/$n.bin "$2/tree/d/$n.bin" 2>>$O/errors && echo $n
            getfattr --only-values -n user.ffmount.error a.zip.contents/d/$n.bin 2>>$O/errors | tail -c 99; echo
          done
          """, scratch)
        let missing = "a.zip: it is split into several files, and a.z03 is missing\n"
        #expect(said == "1\n\n\(missing)\(missing)4\n\n5\n\n6\n\n")
        let now = try await mount.shell(
          """
          mv "$2/kept" "$2/source/a.z03"; sleep 1.2
          diff -r a.zip.contents "$2/tree" && echo whole
          exec 3< a.zip.contents/d/6.bin; head -c 1 <&3 | wc -c
          touch -d 2001-01-01 "$2/source/a.z02"; truncate -s -1 "$2/source/a.z02"; sleep 1.2
          cat a.zip.contents/d/1.bin | cmp - "$2/tree/d/1.bin" && echo still
          diff -rq a.zip.contents "$2/tree" > "$2/diff" 2>&1; echo $?
          """, scratch)
        #expect(now == "whole\n1\nstill\n2\n")
      }
    }
  }

  /// Only files that belong to the last one's end record are parts.
  @Test func unrelatedFilesWithPartNamesAreIgnored() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1/source"; mkdir tree; head -c 200000 /dev/urandom > tree/r; echo x > tree/x
        (cd tree; zip -q ../whole.zip r x; zip -q -s 64k ../set.zip r x)
        cp whole.zip cut.zip; truncate -s -30 cut.zip
        for n in whole cut; do cp whole.zip $n.z01; echo junk > $n.z02; chmod 600 $n.z01; done
        cp set.z01 set.z04; cp set.zip late.zip; head -c 1000 /dev/urandom > big.001; cp whole.zip big.002
        """
      let made = try await shell(lines, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          for n in whole cut set; do diff -r $n.zip.contents "$S/tree" && stat -c %A $n.zip.contents; done
          stat big.001.contents 2>&1; stat -c %n big.002.contents
          cat late.zip.contents/r 2>/dev/null | wc -c
          getfattr --only-values -n user.ffmount.error late.zip.contents/r; echo
          for n in 1 2 3; do cp "$S/set.z0$n" "$S/late.z0$n"; done; sleep 1.2
          cmp late.zip.contents/r "$S/tree/r" && cmp late.zip.contents/x "$S/tree/x" && echo whole by now
          """, scratch)
        #expect(
          said == """
            drwxr-xr-x
            drwxr-xr-x
            drwxr-xr-x
            stat: cannot statx 'big.001.contents': No such file or directory
            big.002.contents
            0
            late.zip: the archive was split into 4 files, and the first (.z01) is not beside this one (at byte 4)
            whole by now

            """)
      }
    }
  }
}
