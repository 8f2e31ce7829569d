import Glibc
import TestSupport
import Testing

private let hasSevenZip = ["/usr/lib/7zip/7z.so", "/usr/lib/p7zip/7z.so"].contains { MountScratch.exists($0) }

private func has(_ programs: String...) -> Bool { programs.allSatisfy { MountScratch.has($0) } }

/// Disk images and encrypted archives, which a worker program reads by 7-Zip's library and others.
@Suite(.serialized, .timeLimit(.minutes(5)), .enabled(if: hasSevenZip, "needs 7z.so (apt install p7zip-full)"))
struct DiskTests {
  /// Makes `tree`, with files of all sizes and links.
  private static let tree = """
    export PATH="$PATH:/usr/sbin:/sbin"; mkdir -p "$1/tree/d/e"; cd "$1/tree"
    head -c 6000000 /dev/urandom > d/random; seq 60000 > d/e/numbers; echo hello > a.txt; : > empty
    head -c 9000000 /dev/zero > d/zeros; for i in $(seq 300); do echo $i > d/e/file$i; done
    cd ../source

    """
  /// Adds links to a file, to a folder and to nothing, and a name outside the Basic Multilingual Plane.
  private static let link =
    "ln -s ../a.txt ../tree/d/link; ln -s d/e ../tree/folder; ln -s none ../tree/dangling; echo 1 > ../tree/d/😀\n"

  /// Makes images in `source`, compares each tree with the original, and returns the names of those that are the same.
  private func same(_ make: String, _ names: [String], in scratch: MountScratch) async throws -> [String] {
    let made = try await shell(Self.tree + make, scratch.path)
    try #require(made.status == 0, "\(made.errors)")
    return try await withMount(scratch) { mount in
      let said = try await mount.shell(
        """
        for a in \(names.joined(separator: " ")); do
          diff -r --no-dereference -x 'lost+found' $a.contents "$2/tree" && echo $a
        done 2>&1
        """, scratch)
      return said.split(separator: "\n").map(String.init)
    }
  }

  @Test(.enabled(if: has("mksquashfs"), "needs squashfs-tools")) func squashFSIsATree() async throws {
    try await withScratch { scratch in
      let make =
        Self.link + """
          for c in gzip zstd xz; do mksquashfs ../tree $c.squashfs -comp $c -noappend -quiet > /dev/null; done
          cp gzip.squashfs unknown.bin; xz -k gzip.squashfs; cat /bin/true zstd.squashfs > x.AppImage
          """
      let names =
        ["gzip", "zstd", "xz"].map { $0 + ".squashfs" } + ["unknown.bin", "gzip.squashfs.xz", "x.AppImage"]
      let found = try await same(make, names, in: scratch)
      #expect(found == names)
    }
  }

  @Test func fileSystemsOfLinuxAreTrees() async throws {
    try await withScratch { scratch in
      let make =
        Self.link + """
          echo > "../tree/$(printf 'latin\\351')"
          truncate -s 3M ../tree/d/hole; echo end >> ../tree/d/hole; mkdir ../tree/d/f; ln -s x ../tree/d/f/link
          for t in ext2 ext3 ext4; do truncate -s 40M $t.img; mke2fs -q -t $t -d ../tree $t.img; done
          truncate -s 40M small.img; mke2fs -q -t ext4 -b 1024 -O ^has_journal,metadata_csum -d ../tree small.img
          truncate -s 40M inline.img; mke2fs -q -t ext4 -I 512 -O inline_data -d ../tree inline.img
          truncate -s 40M large.img; mke2fs -q -t ext4 -O bigalloc -C 16384 -d ../tree large.img
          """
      let names = ["ext2.img", "ext3.img", "ext4.img", "small.img", "inline.img", "large.img"]
      let found = try await same(make, names, in: scratch)
      #expect(found == names)
    }
  }

  @Test(.enabled(if: has("mcopy"), "needs mtools")) func fatIsATree() async throws {
    try await withScratch { scratch in
      let make = """
        PATH=$PATH:/usr/sbin
        for s in 16 32; do
          truncate -s 80M fat$s.img; mkfs.vfat -F $s fat$s.img > /dev/null; mcopy -s -i fat$s.img ../tree/* ::
        done
        """
      let names = ["fat16.img", "fat32.img"]
      let found = try await same(make, names, in: scratch)
      #expect(found == names)
    }
  }

  /// An image of exFAT as in `exfat.py`. Bytes that were never written are zeros.
  private static let exFAT = """
    PATH=$PATH:/usr/sbin; truncate -s 3M ../tree/fragmented; seq 100000 >> ../tree/fragmented
    seq 100000 > ../tree/prepared; seq 60000 | tee ../tree/deleted > ../tree/deleted-used; echo gone > ../tree/d/deleted.txt
    truncate -s 64M e.exfat; mkfs.exfat -L LABEL e.exfat > /dev/null
    python3 '\(MountScratch.package)/Tests/Scripts/exfat.py' ../tree e.exfat; cp ../tree/deleted ../deleted.copy
    rm ../tree/deleted* ../tree/d/deleted.txt
    n=$(stat -c %s ../tree/prepared); truncate -s $((n / 2)) ../tree/prepared; truncate -s $n ../tree/prepared

    """

  @Test(.enabled(if: has("mkfs.exfat"), "needs exfatprogs")) func exFATIsATree() async throws {
    try await withScratch { scratch in
      let found = try await same(Self.exFAT + "cp e.exfat unnamed.bin", ["e.exfat", "unnamed.bin"], in: scratch)
      #expect(found == ["e.exfat", "unnamed.bin"])
    }
  }

  @Test(.enabled(if: getuid() == 0 && has("ntfs-3g"), "needs root and ntfs-3g"))
  func sparseAndCompressedFilesOfNTFSAreRead() async throws {
    try await withScratch { scratch in
      let make = """
        truncate -s 64M n.img; mkntfs -q -F n.img > /dev/null; mkdir ../point; ntfs-3g -o compression n.img ../point
        mkdir ../point/c; setfattr -h -n system.ntfs_attrib_be -v 0x00000800 ../point/c
        seq 200000 > ../point/c/numbers; head -c 300000 /dev/urandom > ../point/c/random
        truncate -s 20M ../point/hole; echo end >> ../point/hole; truncate -s 30M ../point/hole; cp -r ../tree/d ../point
        getfattr -h -n system.ntfs_attrib_be -e hex ../point/c/numbers | grep -q 0820
        rm -r ../tree; cp -r ../point ../tree; fusermount3 -u ../point || umount ../point
        """
      let found = try await same(make, ["n.img"], in: scratch)
      #expect(found == ["n.img"])
    }
  }

  /// The bytes of deleted files, beside the names of others, and only by name.
  @Test(.enabled(if: has("mkfs.exfat", "mdel"), "needs exfatprogs and mtools"))
  func deletedFilesAreFound() async throws {
    try await withScratch { scratch in
      let make =
        Self.tree + Self.exFAT + """
          truncate -s 40M f.img; mkfs.vfat -F 16 f.img > /dev/null; mcopy -s -i f.img ../tree/d ::
          mdel -i f.img ::/d/e/numbers ::/d/e/file7; cp f.img live.txt
          truncate -s 40M g.img; mke2fs -q -t ext2 -d ../tree g.img; debugfs -w -R 'rm /d/e/numbers' g.img 2> /dev/null
          truncate -s 8M x.squashfs
          """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          ls | grep deleted; find e.exfat.deleted f.img.deleted -type f | sort
          cat e.exfat.deleted/deleted-used 2>&1 > /dev/null | grep -o 'Input/output error'
          getfattr --only-values -n user.ffmount.error e.exfat.deleted/deleted-used; echo
          cmp e.exfat.deleted/deleted "$2/deleted.copy" && cat e.exfat.deleted/d/deleted.txt f.img.deleted/d/e/_ile7
          cmp f.img.deleted/d/e/_umbers "$2/tree/d/e/numbers" && cmp g.img.deleted/d/e/numbers "$2/tree/d/e/numbers" && echo same
          for a in state remark; do getfattr --only-values -n user.ffmount.$a e.exfat.deleted/deleted; echo; done
          ls e.exfat.contents | grep -c deleted; stat x.squashfs.deleted live.txt.contents 2>&1 | grep -c 'No such'
          """, scratch)
        #expect(
          said == """
            e.exfat.deleted/d/deleted.txt
            e.exfat.deleted/deleted
            e.exfat.deleted/deleted-used
            f.img.deleted/d/e/_ile7
            f.img.deleted/d/e/_umbers
            Input/output error
            e.exfat: ends after 4096 of 348894 bytes
            gone
            7
            same
            unverified
            deleted: other files may have used its bytes since
            0
            1

            """)
      }
    }
  }

  @Test func unfinishedJournalIsNamed() async throws {
    try await withScratch { scratch in
      let make =
        Self.tree + """
          truncate -s 40M e.img; mke2fs -q -t ext4 -d ../tree e.img; debugfs -w -R 'feature needs_recovery' e.img > /dev/null
          """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          "cat e.img.contents/a.txt; getfattr --only-values -n user.ffmount.error e.img.contents", scratch)
        #expect(said == "hello\ne.img: was not unmounted: changes in its journal are not shown")
      }
    }
  }

  /// A disk with two partitions, in every format of virtual machines; and a ZIP in a file system in a partition in a
  /// disk in a compressed TAR archive.
  @Test("disk images are trees, in one another", .enabled(if: has("qemu-img", "sfdisk"), "needs qemu-utils and fdisk"))
  func disksAreReadThrough() async throws {
    try await withScratch { scratch in
      let make =
        Self.tree + Self.link + """
          (cd ../tree; 7z a -bd -tzip ../in.zip a.txt d/e > /dev/null); mkdir ../more; cp -a ../tree ../in.zip ../more
          truncate -s 40M p.ext4; mke2fs -q -t ext4 -d ../more p.ext4; truncate -s 64M disk
          printf 'label: gpt\\n2048,81920\\n,\\n' | sfdisk -q disk; dd if=p.ext4 of=disk bs=1M seek=1 conv=notrunc status=none
          for f in qcow2 vmdk vdi vhdx; do qemu-img convert -O $f disk d.$f; done
          qemu-img convert -O vpc disk d.vhd; qemu-img convert -O vpc -o subformat=fixed disk fixed.vhd
          qemu-img convert -c -O qcow2 disk c.qcow2; tar -cJf a.tar.xz d.qcow2; truncate -s 70M m.img
          printf '2048,81920,83\\n' | sfdisk -q m.img; dd if=p.ext4 of=m.img bs=1M seek=1 conv=notrunc status=none
          rm p.ext4; mv disk g.img
          """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch, options: ["-o", "depth=8"]) { mount in
        let said = try await mount.shell(
          """
          for d in d.qcow2 c.qcow2 d.vmdk d.vdi d.vhdx d.vhd a.tar.xz.contents/d.qcow2; do
            i=$(ls $d.contents | head -n 1); cmp -n 67108864 $d.contents/$i g.img && echo $d $i
          done
          e=contents/0.img.contents/tree; for d in g.img fixed.vhd; do diff -r --no-dereference $d.$e "$2/tree" && echo $d; done
          diff -r --no-dereference m.img.$e "$2/tree" && echo MBR
          diff -r --no-dereference a.tar.xz.contents/d.qcow2.contents/d.gpt.$e "$2/tree" && echo nested
          z=a.tar.xz.contents/d.qcow2.contents/d.gpt.contents/0.img.contents/in.zip.contents
          diff -r $z/d/e "$2/tree/d/e" && cat $z/a.txt
          """, scratch)
        #expect(
          said == """
            d.qcow2 d.gpt
            c.qcow2 c.gpt
            d.vmdk d.gpt
            d.vdi d.gpt
            d.vhdx d.gpt
            d.vhd d.gpt
            a.tar.xz.contents/d.qcow2 d.gpt
            g.img
            fixed.vhd
            MBR
            nested
            hello

            """)
      }
    }
  }

  /// A disk of a tebibyte, of which little is stored, is read where its bytes are.
  @Test(.enabled(if: has("qemu-img", "qemu-io"), "needs qemu-utils")) func sparseDiskIsReadAtAnyOffset() async throws {
    try await withScratch { scratch in
      let make = """
        cd "$1/source"; qemu-img create -q -f qcow2 big.qcow2 1T
        qemu-io -c 'write -P 90 700G 64k' big.qcow2 > /dev/null
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          f=big.qcow2.contents/big.img; stat -c %s $f
          dd if=$f bs=64k skip=$((700 << 14)) count=1 status=none | tr -d Z | wc -c
          dd if=$f bs=64k skip=$((600 << 14)) count=1 status=none | tr -d '\\0' | wc -c
          """, scratch)
        #expect(said == "1099511627776\n0\n0\n")
      }
    }
  }

  /// Files that an image contains unchanged are read from it: their holes are known, and so are those of a disk.
  @Test(.enabled(if: has("qemu-img", "qemu-io"), "needs qemu-utils")) func storedFilesAreReadFromTheImage() async throws
  {
    try await withScratch { scratch in
      let make =
        Self.tree + """
          rm ../tree/d/zeros; seq 300000 > ../tree/d/many; cp --sparse=always ../tree/d/many ../tree/d/holes
          truncate -s 9M ../tree/d/holes; cat ../tree/d/many >> ../tree/d/holes
          truncate -s 48M plain.ext4; mke2fs -q -t ext4 -d ../tree plain.ext4
          qemu-img convert -O qcow2 plain.ext4 p.qcow2; qemu-img create -q -f qcow2 odd.qcow2 48M
          for n in 9 3 40 4 5; do qemu-io -c "write -P $n ${n}M 64k" odd.qcow2 > /dev/null; done
          """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch, options: ["-o", "depth=8"]) { mount in
        let said = try await mount.shell(
          """
          cat > "$2/seek" <<'END'
          import os, sys
          file = os.open(sys.argv[1], os.O_RDONLY)
          size, place, data = os.fstat(file).st_size, 0, 0
          while place < size:
              try: start = os.lseek(file, place, os.SEEK_DATA)
              except OSError: break
              place = os.lseek(file, start, os.SEEK_HOLE)
              data += place - start
          print(size == data, size, data if len(sys.argv) > 2 else "")
          END
          for f in plain.ext4 p.qcow2.contents/$(ls p.qcow2.contents | head -n 1); do
            for t in $f.contents; do diff -r -x lost+found $t "$2/tree" && echo same; python3 "$2/seek" $t/d/holes; done
          done
          python3 "$2/seek" odd.qcow2.contents/odd.img exactly
          python3 -c 'f = open("odd.qcow2.contents/odd.img", "rb").read(); print([f[n << 20] for n in (9, 3, 40, 4, 5, 6)])'
          """, scratch)
        #expect(
          said == """
            same
            False 11426079 
            same
            False 11426079 
            False 50331648 327680
            [9, 3, 40, 4, 5, 0]

            """)
      }
    }
  }

  /// A 7z archive of several solid blocks, with links whose targets are among the files' bytes.
  @Test func blocksOfSolidArchivesAreRead() async throws {
    try await withScratch { scratch in
      let make =
        Self.link + """
          for i in $(seq 20); do ln -s file$i ../tree/d/e/link$i; done
          7z a -bd -snl -ms=3m blocks.7z ../tree/* > /dev/null; 7z a -bd -snl -mx0 plain.7z ../tree/* > /dev/null
          7z a -bd -snl -ms=off single.7z ../tree/* > /dev/null
          """
      let names = ["blocks.7z", "plain.7z", "single.7z"]
      let found = try await same(make, names, in: scratch)
      #expect(found == names)
    }
  }

  @Test(.enabled(if: has("wimlib-imagex"), "needs wimtools")) func linksOfWindowsAreLinks() async throws {
    try await withScratch { scratch in
      let make = Self.tree + Self.link + "ln -s /etc/a ../tree/absolute; wimlib-imagex capture ../tree t.wim --quiet"
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          "cd t.wim.contents; for l in folder dangling d/link; do readlink $l; done; readlink absolute | grep -o /etc/a; ls d/😀",
          scratch)
        #expect(said == "d/e\nnone\n../a.txt\n/etc/a\nd/😀\n")
      }
    }
  }

  /// A disc has two file systems. That of ISO 9660 is complete only if it has the Rock Ridge extensions.
  @Test(.enabled(if: has("genisoimage"), "needs genisoimage")) func discsOfTwoFileSystemsAreWhole() async throws {
    try await withScratch { scratch in
      let make = """
        mkdir "$1/tree"; cd "$1/tree"; echo note > README.TXT; echo setup > setup.exe; cd ../source
        genisoimage -quiet -udf -hide setup.exe -o windows.iso ../tree; ln -s setup.exe ../tree/link; gzip -k windows.iso
        genisoimage -quiet -udf -R -o both.iso ../tree
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cat windows.iso.contents/setup.exe; ls windows.iso.contents windows.iso.gz.contents; readlink both.iso.contents/link
          """, scratch)
        let names = "README.TXT\nsetup.exe\n"
        #expect(said == "setup\nwindows.iso.contents:\n\(names)\nwindows.iso.gz.contents:\n\(names)setup.exe\n")
      }
    }
  }

  /// Archives and images are searched, whatever their names are.
  @Test func imagesAreSearched() async throws {
    try await withScratch { scratch in
      let said = try await shell(
        """
        export PATH="$PATH:/usr/sbin:/sbin" XDG_CACHE_HOME="$1/cache"; mkdir "$1/tree"; cd "$1/tree"; echo quokka > animals.txt
        cd ../source; truncate -s 2M a.img; mke2fs -q -t ext4 -d ../tree a.img; (cd ../tree; 7z a -bd -tzip ../z.zip . > /dev/null)
        mv ../z.zip odd.bin; \(MountProcess.binary) search -l . quokka | sort
        """, scratch.path)
      #expect(said.text == "./a.img.contents/animals.txt\n./odd.bin.contents/animals.txt\n", "\(said.errors)")
    }
  }

  @Test func imageWithoutItsEndSaysSo() async throws {
    try await withScratch { scratch in
      let make = Self.tree + "truncate -s 40M e.img; mke2fs -q -t ext4 -d ../tree e.img; truncate -s 20M e.img"
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          "ls e.img.contents; getfattr --only-values -n user.ffmount.state e.img.contents; "
            + "getfattr --only-values -n user.ffmount.error e.img.contents", scratch)
        #expect(said.hasPrefix("a.txt\nd\nempty\nlost+found\nfailed"))
        #expect(said.contains("ends after 20971520 of 41943040 bytes"))
      }
    }
  }

  /// Files before the damage are shown, and the folder says that there may be more.
  @Test(.enabled(if: has("arj"), "needs arj")) func listThatIsCutOrDamagedSaysSo() async throws {
    try await withScratch { scratch in
      let make = """
        mkdir "$1/tree"; cd "$1/tree"; for n in 1 2 3; do echo $n > $n; done; arj a -y ../source/a.arj 1 2 3 > /dev/null
        cd ../source; head -c -20 a.arj > cut.arj; python3 - <<'END'
        data = bytearray(open("a.arj", "rb").read()); data[data.rindex(b"3\\0") - 10] ^= 1; open("bad.arj", "wb").write(data)
        END
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          for a in a cut bad; do
            ls $a.arj.contents | tr '\\n' ' '; getfattr --only-values -n user.ffmount.state $a.arj.contents; echo
          done
          cat {cut,bad}.arj.contents/1; for a in cut bad; do getfattr --only-values -n user.ffmount.error $a.arj.contents; echo; done
          """, scratch)
        #expect(
          said == """
            1 2 3 exact
            1 2 failed
            1 2 failed
            1
            1
            cut.arj: is damaged: files may be missing
            bad.arj: is damaged: files may be missing

            """)
      }
    }
  }

  /// Only names that are not UTF-8 are in another character set.
  @Test(.enabled(if: has("mksquashfs"), "needs squashfs-tools")) func oneOddNameAffectsNoOther() async throws {
    try await withScratch { scratch in
      let make =
        "mkdir \"$1/tree\"; cd \"$1/tree\"; touch 京都 \"$(printf 'latin\\351')\"; mksquashfs . ../source/s.squashfs -quiet"
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell("ls -b s.squashfs.contents", scratch)
        #expect(said == "latin\\351\n京都\n")
      }
    }
  }

  /// A password that is given later also applies to files that are read while they are unpacked.
  @Test func largeEncryptedFilesAreUnlocked() async throws {
    try await withScratch { scratch in
      let make = Self.tree + "7z a -bd -psecret locked.7z ../tree/* > /dev/null"
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cmp locked.7z.contents/d/random "$2/tree/d/random" 2>&1 | grep -o 'Permission denied'
          echo secret | \(MountProcess.binary) unlock --stdin "$PWD/locked.7z" | grep -o 'can be read'
          diff -r locked.7z.contents "$2/tree" && echo same
          """, scratch)
        #expect(said == "Permission denied\ncan be read\nsame\n")
      }
    }
  }

  @Test func encryptedArchivesAreReadWithTheirPassword() async throws {
    try await withScratch { scratch in
      let make =
        Self.tree + """
          7z a -bd '-pfor nobody ä' locked.7z ../tree/* > /dev/null
          7z a -bd '-pfor nobody ä' -mhe=on hidden.7z ../tree/* > /dev/null
          7z a -bd -pother -mhe=on other.7z ../tree/a.txt > /dev/null
          printf 'wrong\\nfor nobody ä\\n' > ../password; chmod 600 ../password
          """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          state() { getfattr --only-values -n user.ffmount.state "$1"; echo; }
          ls locked.7z.contents; state locked.7z.contents/a.txt; state locked.7z.contents/empty
          cat locked.7z.contents/a.txt 2>&1 | grep -o 'Permission denied'; state locked.7z.contents/a.txt
          ls hidden.7z.contents 2>&1 | grep -o 'Permission denied'
          getfattr --only-values -n user.ffmount.error hidden.7z.contents; echo
          """, scratch)
        #expect(
          said == """
            a.txt
            d
            empty
            failed
            exact
            Permission denied
            failed
            Permission denied
            hidden.7z: requires a password, and no known password fits (-o password_file=FILE)

            """)
      }
      try await withMount(scratch, options: ["-o", "password_file=" + scratch.path + "/password"]) { mount in
        let said = try await mount.shell(
          """
          state() { getfattr --only-values -n user.ffmount.state "$1"; echo; }
          state locked.7z.contents/a.txt
          for a in locked hidden; do diff -r $a.7z.contents "$2/tree" && echo $a; done
          state locked.7z.contents/a.txt; state locked.7z.contents/d/random
          ls other.7z.contents 2>&1 | grep -o 'Permission denied'
          """, scratch)
        #expect(said == "unverified\nlocked\nhidden\nexact\nexact\nPermission denied\n")
      }
    }
  }

  /// Images with changed bytes, devices, and names that an image cannot have, end neither the mount nor its readers. A
  /// changed size can make a file huge, so only its start is read.
  @Test(.enabled(if: has("mksquashfs", "debugfs"), "needs squashfs-tools and e2fsprogs"))
  func damagedImagesAreContained() async throws {
    try await withScratch { scratch in
      let make = """
        export PATH="$PATH:/usr/sbin:/sbin"; mkdir -p "$1/tree/d"; cd "$1"
        for i in 1 2 3 4; do seq 3000 > tree/d/f$i; done; truncate -s 1M e.img; mke2fs -q -t ext4 -O ^has_journal -d tree e.img
        mksquashfs tree s.img -noappend -quiet > /dev/null; cp e.img odd.img
        for c in 'mknod dev c 1 3' 'ln d d/loop'; do debugfs -w -R "$c" odd.img 2> /dev/null; cp odd.img source/odd-${c%% *}.img; done
        python3 -I - <<'END'
        import random
        random.seed(7)
        for kind in "es":
            whole = open(f"{kind}.img", "rb").read()
            for number in range(20):
                changed = bytearray(whole)
                for _ in range(random.randint(1, 20)):
                    # Rather at the start, where the tables are.
                    changed[random.randrange(32768) * random.randint(1, 32) % len(whole)] = random.randrange(256)
                open(f"source/{kind}{number}.img", "wb").write(changed)
        END
        """
      let made = try await shell(make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await withMount(scratch) { mount in
        let said = try await mount.shell(
          """
          cat odd-mknod.img.contents/dev; ls odd-mknod.img.contents/d | wc -l
          for f in *.img; do timeout 30 find $f.contents -type f -exec head -qc 20M {} + > /dev/null 2>&1; [ $? = 124 ] && echo $f hangs; done
          cat odd-mknod.img.contents/d/f4 | tail -n 1
          """, scratch)
        #expect(said == "character device\n4\n3000\n")
      }
    }
  }

  @Test(.enabled(if: getuid() == 0 && has("mkfs.exfat"), "needs root and exfatprogs"))
  func missingSleuthKitIsNamed() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1"; truncate -s 8M source/e.img; PATH=$PATH:/usr/sbin mkfs.exfat source/e.img > /dev/null
        export XDG_CACHE_HOME=$1/cache
        unshare --mount bash -c '
          for f in /usr/lib/*/libtsk.so.*; do mount --bind /dev/null "$f"; done
          "$1" source "$2"; ls "$2/e.img.contents" 2>&1; "$1" why "$2/e.img.contents" | tail -n 2; fusermount3 -u "$2"
        ' bash "$2" "$3"
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary, scratch.mountpoint)
      #expect(
        said.text == """
          ls: cannot open directory '\(scratch.mountpoint)/e.img.contents': Input/output error
          error   e.img: needs The Sleuth Kit's library (apt install sleuthkit)
          do      install the package that the message names, then unmount and mount again

          """, "\(said.errors)")
    }
  }

  @Test(.enabled(if: getuid() == 0, "needs root")) func missingLibraryIsNamed() async throws {
    try await withScratch { scratch in
      let lines = """
        cd "$1"; truncate -s 1M source/e.img; /sbin/mke2fs -q -t ext4 source/e.img
        7z a -bso0 -bsp0 -psecret -mhe=on source/locked.7z source/e.img; export XDG_CACHE_HOME=$1/cache
        unshare --mount bash -c '
          for f in /usr/lib/7zip /usr/lib/p7zip; do [ ! -d $f ] || mount -t tmpfs tmpfs $f; done
          "$1" doctor | grep -A 1 "^note *ffdisk" | tail -n 1; "$1" formats | tail -n 1
          "$1" source "$2"; "$1" why "$2/e.img" | tail -n 1
          ls "$2/locked.7z.contents" 2> /dev/null; "$1" why "$2/locked.7z.contents" | tail -n 1; fusermount3 -u "$2"
        ' bash "$2" "$3"
        """
      let said = try await shell(lines, scratch.path, MountProcess.binary, scratch.mountpoint)
      #expect(
        said.text == """
                fix it with: sudo apt install p7zip-full
          7-Zip's library is not installed: disk images and encrypted 7z archives are not shown \
          (install the package p7zip-full)
          do      install the package p7zip-full
          do      install the package p7zip-full for 7z archives; give RAR archives their password with \
          ffmount unlock, or unpack them with unar or unrar

          """, "\(said.errors)")
    }
  }
}
