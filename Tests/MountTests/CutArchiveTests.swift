import TestSupport
import Testing

/// Archives of which something is lost that no entry shows: the folder and `ffmount verify` say so.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CutArchiveTests {
  /// Returns the lines of `ffmount verify` without what precedes the path in the source, sorted, and its status.
  private func verify(_ scratch: MountScratch, _ name: String) async throws -> (lines: [String], status: Int32) {
    let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
    let path = scratch.source + "/" + name
    let said = try await MountChild([MountProcess.binary, "verify", path], environment: environment).wait(atMost: 90)
    return (said.lines.map { String($0.dropFirst(path.count + 1)) }.sorted(), said.status)
  }

  private static let makePacked = """
    mkdir -p "$1/tree" "$1/all"; cd "$1/tree"; seq 3000 > numbers; head -c 150000 /dev/urandom > random; cd ..
    (cd tree; ls | cpio -oH newc --quiet) > all/a.cpio; bsdtar -C tree -cf all/a.iso --format=iso9660 .
    bsdtar -C tree -cf all/a.warc --format=warc numbers random; bsdtar -C tree -cf all/a.xar --format=xar .
    bsdtar -C tree -cf all/a.7z --format=7zip .; tar -C tree -cf all/a.tar .; cp tree/numbers all/numbers
    mkdir source/good source/bad; cd all
    for f in *; do
      gzip -qc $f > ../source/good/$f.gz; xz -qc $f > ../source/good/$f.xz; bzip2 -qc $f > ../source/good/$f.bz2
      lz4 -qc $f > ../source/good/$f.lz4; lzip -qc $f > ../source/good/$f.lz; zstd -qc $f > ../source/good/$f.zst
    done
    cd ../source; cp good/* bad; truncate -s -1 bad/*.bz2; truncate -s -5 bad/*.gz bad/*.xz bad/*.lz4 bad/*.lz bad/*.zst
    """

  /// Programs that read as many bytes as the size says notice that a compressed file is cut off.
  @Test func copiesOfCutFilesFail() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1/source"; seq 300000 > ../whole; gzip -c ../whole | head -c 200000 > half.gz; gzip -c ../whole | head -c 12 > none.gz
        xz -c ../whole | head -c 30000 > half.xz; zstd -qc ../whole | head -c 30000 > half.zst
        bzip2 -c ../whole | head -c 100000 > half.bz2
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          for f in half.gz none.gz half.xz half.zst half.bz2; do
            rm -rf $O/*; s=
            rsync -a $f.contents/ $O/copy > /dev/null 2>&1; s="$s $?"; tar -C $f.contents -cf $O/t.tar . 2> /dev/null
            [ $? != 0 ] && s="$s tar"; echo $f$s
          done
          """, scratch)
        let expected = ["half.gz", "none.gz", "half.xz", "half.zst", "half.bz2"].map { "\($0) 23 tar" }
        #expect(said == expected.map { $0 + "\n" }.joined())
      }
    }
  }

  /// Whatever is in it: the end of a compressed file holds its checksum.
  @Test func truncatedCompressedArchiveIsReported() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.makePacked, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let names = ["a.7z", "a.cpio", "a.iso", "a.tar", "a.warc", "a.xar", "numbers"]
      let all = names.flatMap { name in ["gz", "xz", "bz2", "lz4", "lz", "zst"].map { "\(name).\($0)" } }.sorted()
      // And once more from what is known.
      for round in 0..<2 {
        let bad = try await verify(scratch, "bad")
        let told = bad.lines.compactMap { $0.split(separator: ":").first }.filter { $0.hasSuffix(".contents") }
        #expect(told.map { String($0.dropLast(9)) } == all && bad.status == 1, "round \(round): \(bad.lines)")
        let good = try await verify(scratch, "good")
        #expect(good.lines.isEmpty && good.status == 0, "\(good.lines)")
      }
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cd bad; for f in a.cpio.gz a.iso.lz4 a.warc.bz2; do
            cmp $f.contents/numbers ../../tree/numbers && getfattr --only-values -n user.ffmount.state $f.contents; echo -n " "
            getfattr --only-values -n user.ffmount.state $f.contents/numbers; echo
          done
          getfattr --only-values -n user.ffmount.error a.cpio.gz.contents | sed 's/ (.*/\\n/'
          """, scratch)
        #expect(
          said == """
            failed unverified
            failed unverified
            failed exact
            bad/a.cpio.gz: expected a gzip member's end

            """)
      }
    }
  }

  private static let makeWrong = """
    mkdir "$1/tree"; cd "$1/source"; bsdtar -C ../tree -cf empty.iso --format=iso9660 .; gzip -n empty.iso
    (seq 9000 | bzip2 -c; seq 9000 | bzip2 -c) > numbers.bz2; (cd ..; seq 9 > tree/f; ls tree | (cd tree; cpio -oH newc --quiet)) > a.cpio
    lzip -c a.cpio > size.cpio.lz; xz --block-size=64 a.cpio
    python3 - <<'P'
    def flip(name, place):
        data = bytearray(open(name, "rb").read())
        data[place] ^= 1
        open(name, "wb").write(data)
    flip("empty.iso.gz", -8)
    flip("size.cpio.lz", -6)
    # The first stream's own checksum, which is not that of a block.
    data = open("numbers.bz2", "rb").read()
    flip("numbers.bz2", data.find(b"BZh", 3) - 2)
    P
    """

  /// Names and sizes come from bytes that do not have their checksum, even if there is no file.
  @Test func checksumErrorAroundArchiveIsReportedOnDirectory() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.makeWrong, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      for _ in 0..<2 {
        let empty = try await verify(scratch, "empty.iso.gz")
        #expect(empty.status == 1 && empty.lines.count == 1, "\(empty.lines)")
        #expect(empty.lines.first?.contains("expected CRC-32") == true, "\(empty.lines)")
        let twice = try await verify(scratch, "numbers.bz2")
        #expect(twice.status == 1 && twice.lines.count == 2, "\(twice.lines)")
        let size = try await verify(scratch, "size.cpio.lz")
        #expect(size.status == 1 && size.lines.count == 1, "\(size.lines)")
        let good = try await verify(scratch, "a.cpio.xz")
        #expect(good.status == 0, "\(good.lines)")
      }
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          getfattr --only-values -n user.ffmount.state empty.iso.gz.contents; echo
          getfattr --only-values -n user.ffmount.error empty.iso.gz.contents | grep -o 'expected CRC-32'
          cat numbers.bz2.contents/numbers 2> $O/errors | wc -l; cat size.cpio.lz.contents/f | wc -l
          """, scratch)
        #expect(said == "failed\nexpected CRC-32\n18000\n9\n")
      }
    }
  }

  private static let makeLink = """
    mkdir "$1/tree"; cd "$1/tree"; echo hi > f; ln -s f link; zip -qy ../source/good.zip f link; cd ../source
    python3 - <<'P'
    import struct, zlib
    data, sum = open("good.zip", "rb").read(), zlib.crc32(b"f")
    assert data.count(struct.pack("<I", sum)) == 2
    open("bad.zip", "wb").write(data.replace(struct.pack("<I", sum), struct.pack("<I", sum ^ 1)))
    P
    """

  @Test func verifyFollowsLinksInArchives() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.makeLink, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let bad = try await verify(scratch, "bad.zip")
      #expect(bad.status == 1 && bad.lines.count == 1, "\(bad.lines)")
      #expect(bad.lines.first?.hasPrefix("contents/link: expected CRC-32") == true, "\(bad.lines)")
      let good = try await verify(scratch, "good.zip")
      #expect(good.status == 0 && good.lines.isEmpty, "\(good.lines)")
    }
  }

  private static let makeCpio = #"""
    mkdir "$1/tree" "$1/source/bad" "$1/source/good"; cd "$1/tree"; for n in 1 2 3 4 5; do seq $n$n > $n.txt; done; cd ../source
    for k in newc crc odc; do (cd ../tree; ls | cpio -oH $k --quiet) > good/$k.cpio; gzip -k good/$k.cpio; done
    python3 - <<'P'
    import gzip
    for kind, mark in ("newc", b"070701"), ("crc", b"070702"), ("odc", b"070707"):
        data = open(f"good/{kind}.cpio", "rb").read()
        places = [data.find(mark, data.find(b"%d.txt" % n) - 110) for n in range(1, 6)]
        # The second and the third one, all behind the first, the first one.
        for number, damaged in enumerate((places[1:3], places[1:], places[:1])):
            bad = bytearray(data)
            for place in damaged: bad[place + 2] ^= 8
            open(f"bad/{number}.{kind}.cpio", "wb").write(bad)
            # What starts so has a mark of its own.
            if number < 2: open(f"bad/{number}.{kind}.cpio.gz", "wb").write(gzip.compress(bad))
    P
    """#

  /// The library looks for the next header that is one.
  @Test func damagedCpioHeaderIsReported() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.makeCpio, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let bad = try await verify(scratch, "bad")
      let kinds = ["crc", "newc", "odc"]
      let all = kinds.flatMap { kind in
        ["0.\(kind).cpio", "0.\(kind).cpio.gz", "1.\(kind).cpio", "1.\(kind).cpio.gz", "2.\(kind).cpio"]
      }
      let told = bad.lines.compactMap { $0.split(separator: ":").first.map { String($0.dropLast(9)) } }
      #expect(told == all.sorted() && bad.status == 1, "\(bad.lines)")
      let good = try await verify(scratch, "good")
      #expect(good.status == 0 && good.lines.isEmpty, "\(good.lines)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cd bad; ls 0.newc.cpio.contents | sed -n '1p;$p'; cat 0.newc.cpio.contents/5.txt | wc -l
          getfattr --only-values -n user.ffmount.state 0.newc.cpio.contents; echo
          getfattr --only-values -n user.ffmount.error 1.odc.cpio.contents; echo
          """, scratch)
        let lines = said.split(separator: "\n")
        #expect(lines.prefix(4) == ["1.txt", "5.txt", "55", "failed"], "\(said)")
        #expect(lines.last?.hasPrefix("bad/1.odc.cpio: has no entry at byte ") == true, "\(said)")
      }
    }
  }

  private static let makeRars = #"""
    seq 3000 > "$1/numbers"; mkdir "$1/source/bad" "$1/source/good" "$1/rars"; cd "$1/source"
    python3 -B - "$2" "$1/rars" "$1/numbers" <<'P'
    import runpy, struct, sys, zlib
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    make = runpy.run_path(script)
    number, block5, mark5, mark4 = make["number"], make["block5"], b"Rar!\x1a\x07\x01\0", b"Rar!\x1a\x07\0"
    def file5(name, data):
        words = number(4) + number(len(data)) + number(0o100644) + struct.pack("<I", zlib.crc32(data))
        return block5(2, 2, words + number(0) + number(1) + number(len(name)) + name, data)
    files = [(b"one", b"1" * 500), (b"two", b"2" * 700)]
    five = [mark5, block5(1, 0, number(0))] + [file5(*file) for file in files] + [block5(5, 0, number(0))]
    four = [mark4, make["block4"](0x73, 0, bytes(6))]
    four += [make["file4"](name, data, 0, len(data), zlib.crc32(data)) for name, data in files]
    end = make["block4"](0x7b, 0x4000, b"")
    def write(name, data): open(name, "wb").write(data)
    write("good/5.rar", b"".join(five)); write("good/4.rar", b"".join(four) + end)
    # Its end is not recorded by all programs; what follows it is ignored.
    write("good/without.rar", b"".join(four)); write("good/more.rar", b"".join(five) + b"signature of a program")
    write("good/more4.rar", b"".join(four) + end + b"signature of a program")
    for count in 2, 3, 4:
        start = sum(map(len, five[:count]))
        for more in 0, 1, 5, 7, 12, 30:
            if more < len(five[count]): write(f"bad/5.{count}.{more:02}.rar", b"".join(five)[:start + more])
    for count in 2, 3:
        start = sum(map(len, four[:count]))
        for more in 1, 3, 6: write(f"bad/4.{count}.{more:02}.rar", b"".join(four)[:start + more])
    P
    """#

  /// The library takes a header that is not whole for the end.
  @Test func truncatedRARIsReported() async throws {
    try await withScratch { scratch in
      let script = MountScratch.package + "/Tests/Scripts/make_rars.py"
      let made = try await shell(Self.makeRars, scratch.path, script)
      try #require(made.status == 0, "\(made.errors)")
      let bad = try await verify(scratch, "bad")
      let names = try await shell("ls \"$1/source/bad\"", scratch.path).text.split(separator: "\n").map(String.init)
      let told = Set(bad.lines.compactMap { $0.split(separator: ".contents").first.map(String.init) })
      #expect(told == Set(names) && names.count > 18 && bad.status == 1, "\(bad.lines)")
      let good = try await verify(scratch, "good")
      #expect(good.status == 0 && good.lines.isEmpty, "\(good.lines)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cd bad; wc -c < 5.3.05.rar.contents/one
          getfattr --only-values -n user.ffmount.error 5.3.05.rar.contents; echo
          getfattr --only-values -n user.ffmount.error 4.3.06.rar.contents; echo
          """, scratch)
        #expect(
          said == """
            500
            bad/5.3.05.rar: is cut off: files may be missing
            bad/4.3.06.rar: is cut off: files may be missing

            """)
      }
    }
  }
}
