import TestSupport
import Testing

/// RAR archives that are encrypted with a password, through a mount.
@Suite(.serialized, .timeLimit(.minutes(3))) struct EncryptedRarTests {
  private static let password = "rosebud-\u{fc}ber-alles"
  private static let letter = "Dear Anna, herring 4711\n"

  /// Makes the archives, and a password file in which another password comes first.
  private func withArchives(_ body: (MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      let made = try await script("make_encrypted_rar.py", scratch.source, Self.password, "10")
      try #require(made.status == 0, "\(made.errors)")
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
          ls -s1 files.rar.contents/d | wc -l; cat files.rar.contents/d/empty bare.rar.contents/d/gr*.txt
          cat old-packed.rar.contents/letter.txt; sort -u old-packed.rar.contents/long.txt; wc -c < old-packed.rar.contents/long.txt
          cat old-solid.rar.contents/letter.txt; getfattr --only-values -n user.ffmount.error old-solid.rar.contents; echo
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
          said == String(repeating: Self.letter, count: 5) + """
            5
            plain
            \(Self.letter)\(Self.letter)9600
            \(Self.letter)old-solid.rar: cannot be read (RAR solid archive support unavailable.)
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
