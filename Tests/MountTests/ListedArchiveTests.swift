import TestSupport
import Testing

/// Archives that a worker program reads, as bsdtar and 7z make them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ListedArchiveTests {
  private static let make = """
    mkdir -p "$1/tree/d/e"; cd "$1/tree"
    head -c 400000 /dev/urandom > d/random; seq 60000 > d/e/numbers; echo hello > a.txt; ln -s ../a.txt d/link
    : > empty; echo x > $(printf 'n%.0s' $(seq 60))
    cd ../source
    7z a -bd -snl solid.7z ../tree/* > /dev/null; 7z a -bd -snl -ms=off single.7z ../tree/* > /dev/null
    7z a -bd -snl -v200k split.7z ../tree/* > /dev/null; 7z a -bd -psecret locked.7z ../tree/a.txt > /dev/null
    7z a -bd -psecret -mhe=on hidden.7z ../tree/a.txt > /dev/null
    for f in newc odc; do bsdtar -C ../tree -cf $f.cpio --format=$f .; done
    bsdtar -C ../tree -cf rock.iso --format=iso9660 .; bsdtar -C ../tree -cf x.xar --format=xar .
    gzip -k newc.cpio; cp rock.iso unknown; head -c 700000 newc.cpio > cut.cpio
    head -c 100000 solid.7z > cut.7z
    bsdtar -C ../tree -cf text.ar --format=arbsd a.txt empty; tar -C . -cf nested.tar solid.7z
    """

  @Test("a tree is shown, whatever made the archive") func archivesOfEveryFormatAreRead() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let compare = """
        for a in solid.7z single.7z split.7z.001 newc.cpio odc.cpio newc.cpio.gz rock.iso x.xar unknown \
          nested.tar.contents/solid.7z; do
          diff -r --no-dereference $a.contents "$2/tree" && echo $a
        done
        """
      let all = """
        solid.7z
        single.7z
        split.7z.001
        newc.cpio
        odc.cpio
        newc.cpio.gz
        rock.iso
        x.xar
        unknown
        nested.tar.contents/solid.7z

        """
      try await withMount(scratch) { mount in
        #expect(try await mount.shell(compare, scratch) == all)
        let said = try await mount.shell(
          """
          ls -d *.contents | tr '\\n' ' '; echo
          stat -c '%s %a' solid.7z.contents/d/e/numbers; ls text.ar.contents
          cat locked.7z.contents/a.txt 2>&1 | grep -o 'Permission denied'
          ls hidden.7z.contents 2>&1 | grep -o 'Permission denied'
          getfattr --only-values -n user.ffmount.error locked.7z.contents/a.txt; echo
          cmp cut.cpio.contents/a.txt "$2/tree/a.txt" && echo same
          """, scratch)
        #expect(
          said == """
            cut.7z.contents cut.cpio.contents hidden.7z.contents locked.7z.contents nested.tar.contents \
            newc.cpio.contents newc.cpio.gz.contents odc.cpio.contents rock.iso.contents single.7z.contents \
            solid.7z.contents split.7z.001.contents x.xar.contents 
            348894 644
            a.txt
            empty
            Permission denied
            Permission denied
            locked.7z: requires a password, and no known password fits (-o password_file=FILE)
            same

            """)
      }
      // From the cache.
      try await withMount(scratch) { mount in
        let said = try await mount.shell(compare, scratch)
        #expect(said == all)
      }
    }
  }

  private static let makeOdd = """
    seq 40000 > "$1/numbers"; cd "$1/source"; python3 -B "$2" . ../numbers
    7z a -bd -mx0 plain.7z ../numbers > /dev/null; cp plain.7z bad.7z; printf X | dd of=bad.7z bs=1 seek=5000 conv=notrunc 2> /dev/null
    7z a -bd -tzip -mm=PPMd ppmd.zip ../numbers > /dev/null; 7z a -bd -tzip -mm=Deflate64 deflate64.zip ../numbers > /dev/null
    7z a -bd -m0=ppmd in.7z ../numbers > /dev/null; cat /bin/true in.7z > setup.exe
    7z a -bd -tzip -mm=PPMd -mem=AES256 -psecret aes.zip ../numbers > /dev/null; umask 077; echo secret > ../password; umask 022
    7z a -bd -sinumbers pipe.7z < ../numbers > /dev/null
    cat /bin/true one.rar > rar.elf; bsdtar -C .. -cf bin.cpio --format=bin numbers; mv bin.cpio device.bin
    bsdtar -C .. --format=xar --options xar:compression=none -cf bad.xar numbers
    printf X | dd of=bad.xar bs=1 seek=$(($(stat -c %s bad.xar) - 5000)) conv=notrunc 2> /dev/null
    printf '\\x02\\x21\\x4c\\x18\\x06\\0\\0\\0\\x50hello' > old.lz4
    tar -C .. -cf a.tar numbers; split -b 100k -a 3 --numeric-suffixes=1 a.tar a.tar.
    printf 'dir type=dir\\n file type=file size=3 mode=0644\\n ..\\n' > list.mtree
    """

  /// LHA files with stored entries: each entry's name, bytes, and the size that it claims.
  private static let makeLHA = #"""
    import gzip, struct, sys
    def crc(data):
        sum = 0
        for byte in data:
            sum ^= byte
            for _ in range(8): sum = sum >> 1 ^ (0xa001 if sum & 1 else 0)
        return sum
    def entry(name, data, size):
        head = b"-lh0-" + struct.pack("<IIIBB", len(data), size, 0x58a50000, 0x20, 0)
        head += bytes([len(name)]) + name + struct.pack("<H", crc(data))
        return bytes([len(head), sum(head) & 255]) + head + data
    file = entry(b"a", b"A" * 3000, 3000) + entry(b"more", b"M" * 4000, 1000) + entry(b"b", b"B" * 2000, 2000)
    file += entry(b"less", b"L" * 10, 500) + entry(b"c", b"C" * 100, 100) + b"\0"
    open("x.lzh", "wb").write(file)
    gzip.open("y.lzh.gz", "wb").write(file)
    """#

  /// An entry with more bytes than it claims never reaches into the one that follows.
  @Test(arguments: ["x.lzh", "y.lzh.gz"]) func entryWithExcessDataAffectsNoOther(name: String) async throws {
    try await withScratch { scratch in
      let made = try await shell("cd \"$1/source\"; python3 -B -c \"$2\"", scratch.path, Self.makeLHA)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cd \(name).contents
          for f in a b c; do tr -d ABC < $f | wc -c; wc -c < $f; done
          for f in more less; do
            cat $f 2>> $O/errors | tr -d ML | wc -c; getfattr --only-values -n user.ffmount.error $f | sed 's/.*: //'; echo
          done
          """, scratch)
        #expect(
          said == """
            0
            3000
            0
            2000
            0
            100
            0
            has more bytes than its recorded size of 1000
            0
            ends after 10 of 500 bytes

            """)
      }
    }
  }

  @Test("parts, programs and wrong checksums are what they are") func unusualArchivesAreRead() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.makeOdd, scratch.path, MountScratch.package + "/Tests/Scripts/make_rars.py")
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch, options: ["-o", "password_file=\(scratch.path)/password"]) { mount in
        let said = try await mount.shell(
          """
          for a in old.rar new.part1.rar one.rar setup.exe rar.elf device.bin a.tar.001 ppmd.zip deflate64.zip aes.zip pipe.7z; do
            cmp $a.contents/numbers "$2/numbers" && echo $a
          done
          (cd copies.rar.contents; for f in d/before numbers hinterä; do cmp $f "$2/numbers" && stat -c '%s %h' $f; done; readlink link)
          getfattr --only-values -n user.ffmount.state secret.rar.contents/numbers; echo
          cat old.lz4.contents/old; echo; find list.mtree.contents -type f
          for f in bad.7z.contents/numbers bad.xar.contents/numbers wrong.rar.contents/numbers alone.part1.rar.contents/numbers; do
            cat $f 2>> $O/errors | wc -c; getfattr --only-values -n user.ffmount.error $f; echo
          done
          cat wrong.rar.contents/right; getfattr --only-values -n user.ffmount.error alone.part1.rar.contents; echo
          ls -d *part*.rar.contents; for n in 2 3; do stat new.part$n.rar.contents > $O/stat 2>&1 && echo new.part$n has a view; done
          """, scratch)
        #expect(
          said == """
            old.rar
            new.part1.rar
            one.rar
            setup.exe
            rar.elf
            device.bin
            a.tar.001
            ppmd.zip
            deflate64.zip
            aes.zip
            pipe.7z
            228894 3
            228894 3
            228894 3
            numbers
            failed
            hello
            list.mtree.contents/dir/file
            0
            bad.7z: does not match its recorded checksum
            0
            bad.xar: cannot be decoded (Sumcheck error)
            0
            wrong.rar: does not match its recorded checksum
            76298
            alone.part1.rar: ends after 76298 of 228894 bytes: the next part is missing
            right
            alone.part1.rar: continues in a part that is missing
            alone.part1.rar.contents
            new.part1.rar.contents

            """)
      }
    }
  }
}
