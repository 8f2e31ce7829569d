import TestSupport
import Testing

/// RAR archives that are encrypted with a password, through a mount.
@Suite(.serialized, .timeLimit(.minutes(5))) struct EncryptedRarTests {
  private static let password = "rosebud-\u{fc}ber-alles"
  private static let letter = "Dear Anna, herring 4711\n"

  /// Makes the archives, and a password file in which another password comes first.
  private func withArchives(_ body: (MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      try await scratch.make("make_encrypted_rar.py", Self.password, "10")
      _ = try await shell(
        "cd \"$1\"; printf 'wrong\\n%s\\n' \"$2\" > passwords; chmod 600 passwords", scratch.path, Self.password)
      try await body(scratch)
    }
  }

  @Test func encryptedRarsAreReadWithTheirPassword() async throws {
    try await withArchives { scratch in
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let lines = """
          for f in files sums headers old old-headers; do
            cat $f.rar.contents/d/letter.txt; cmp $f.rar.contents/d/noise.bin plain.rar.contents/noise.bin
          done
          cat headers.rar.contents/again.txt; ls -s1 files.rar.contents/d | wc -l; cat files.rar.contents/d/empty bare.rar.contents/d/gr*.txt
          cat old-packed.rar.contents/letter.txt; sort -u old-packed.rar.contents/long.txt; wc -c < old-packed.rar.contents/long.txt
          cat old-solid.rar.contents/letter.txt; getfattr --only-values -n user.ffmount.error old-solid.rar.contents; echo
          cat old-wrong.rar.contents/letter.txt 2>> $O/errors | wc -c; sort -u old-wrong.rar.contents/long.txt
          getfattr --only-values -n user.ffmount.error old-wrong.rar.contents/letter.txt; echo
          cat unchecked.rar.contents/letter.txt; cat mixed.rar.contents/letter.txt
          for f in mixed.rar.contents/second.txt slow.rar.contents/letter.txt; do
            cat $f; getfattr --only-values -n user.ffmount.error $f | grep -o 'and no known password fits'
          done
          ls other.rar.contents; cat plain.rar.contents/letter.txt
          for f in files sums headers; do getfattr --only-values -n user.ffmount.state $f.rar.contents/d/noise.bin; echo; done
          tail -c 1000 headers.rar.contents/d/noise.bin | cmp - <(tail -c 1000 plain.rar.contents/noise.bin)
          cmp files.rar $S/files.rar
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == String(repeating: Self.letter, count: 6) + """
            5
            plain
            \(Self.letter)\(Self.letter)9600
            \(Self.letter)old-solid.rar: cannot be read (RAR solid archive support unavailable.)
            0
            \(Self.letter)old-wrong.rar: cannot be decoded (File CRC error)
            \(Self.letter)\(Self.letter)cat: mixed.rar.contents/second.txt: Permission denied
            and no known password fits
            cat: slow.rar.contents/letter.txt: Permission denied
            and no known password fits
            ls: cannot open directory 'other.rar.contents': Permission denied
            \(Self.letter)unverified
            exact
            exact

            """, "\(said)")
      }
    }
  }

  /// Behind its end, a cut archive has nothing to show; before it, everything.
  @Test func cutEncryptedRarsShowTheFilesBeforeTheEnd() async throws {
    try await withArchives { scratch in
      _ = try await shell(
        "cd \"$1\"; for f in files headers old old-headers; do head -c 50001 $f.rar > cut-$f.rar; done", scratch.source)
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let lines = """
          for f in files headers old old-headers; do
            cat cut-$f.rar.contents/d/letter.txt; cat cut-$f.rar.contents/d/noise.bin 2>&1 >/dev/null | grep -o 'Input.*'
          done
          """
        let said = try await mount.shell(lines, scratch)
        #expect(said == String(repeating: Self.letter + "Input/output error\n", count: 4), "\(said)")
      }
    }
  }

  /// Archives that programs decode lock with the password, as ZIP archives do.
  @Test(.enabled(if: MountScratch.has("7z"), "needs 7z")) func removedPasswordLocksTheArchives() async throws {
    try await withArchives { scratch in
      let make = """
        cd "$1"; printf 'Dear Anna, herring 4711\\n' > letter.txt; 7z a -p"$2" -mhe=on hidden.7z letter.txt >/dev/null
        7z a -p"$2" open.7z letter.txt >/dev/null; zip -qP "$2" a.zip letter.txt; rm letter.txt
        """
      let made = try await shell(make, scratch.source, Self.password)
      try #require(made.status == 0, "\(made.errors)")
      try await withConverter(scratch, "workers=2,password_file=\(scratch.path)/passwords") { mount in
        let lines = """
          P=$S/../passwords; F='files headers old old-headers'
          look() {
            for f in $F; do cat $f.rar.contents/d/letter.txt; done; cat {hidden,open}.7z.contents/letter.txt a.zip.contents/letter.txt
          } 2>&1
          # A busy machine may read the file of passwords later.
          seen() {
            for round in {1..30}; do n=$(look | grep -c "$1"); [ "$n" = 7 ] && break; sleep .5; done; echo "$n"
          }
          look | sort | uniq -c | tr -s ' '; ls headers.rar.contents hidden.7z.contents >/dev/null
          cp $P $P-2; printf 'other\\n' > $P; sleep 1; seen 'Permission denied'
          ls headers.rar.contents hidden.7z.contents 2>&1 | grep -c 'Permission denied'
          cat $P-2 > $P; sleep 1; seen herring >/dev/null; look | sort | uniq -c | tr -s ' '
          chmod 644 $P; sleep 1; seen 'Permission denied'; chmod 600 $P; sleep 1; seen herring
          rm $P; sleep 1; seen 'Permission denied'
          """
        let said = try await mount.shell(lines, scratch)
        let all = " 7 Dear Anna, herring 4711\n"
        #expect(said == "\(all)7\n2\n\(all)7\n7\n7\n", "\(said)")
      }
    }
  }

  @Test func namesAreListedWithoutAPasswordUnlessTheyAreEncrypted() async throws {
    try await withArchives { scratch in
      try await withConverter(scratch, "workers=2") { mount in
        let lines = """
          B=\(MountProcess.binary); export XDG_CACHE_HOME=$O/../cache
          unlock() { printf '%s\\n' "$1" | "$B" unlock --stdin "$2" 2>&1 | sed "s|$PWD|.|g"; }
          ls files.rar.contents/d; cat files.rar.contents/d/letter.txt; ls headers.rar.contents
          getfattr --only-values -n user.ffmount.error headers.rar.contents; echo
          cat plain.rar.contents/letter.txt files.rar.contents/d/gr*
          unlock wrong files.rar; cat files.rar.contents/d/letter.txt; unlock '\(Self.password)' files.rar
          cat files.rar.contents/d/letter.txt old.rar.contents/d/letter.txt headers.rar.contents/d/letter.txt
          unlock '\(Self.password)' headers.rar
          """
        let said = try await mount.shell(lines, scratch)
        #expect(
          said == """
            empty
            gr\u{fc}n.txt
            letter.txt
            noise.bin
            cat: files.rar.contents/d/letter.txt: Permission denied
            ls: cannot open directory 'headers.rar.contents': Permission denied
            headers.rar: requires a password, and no known password fits (-o password_file=FILE)
            \(Self.letter)plain
            ffmount: cannot unlock files.rar: the password does not open it
            cat: files.rar.contents/d/letter.txt: Permission denied
            files.rar can be read until . is unmounted.
            \(Self.letter)\(Self.letter)\(Self.letter)\
            ffmount: cannot unlock headers.rar: no file in it requires another password

            """, "\(said)")
      }
    }
  }
}
