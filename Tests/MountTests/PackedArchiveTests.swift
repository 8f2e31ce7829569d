import TestSupport
import Testing

/// TAR archives, compressed files, and mailboxes in those, as GNU tar and the compressors make them.
@Suite(.serialized, .timeLimit(.minutes(5))) struct PackedArchiveTests {
  private static let make = """
    mkdir -p "$1/tree/d/e"; cd "$1/tree"
    head -c 1200000 /dev/urandom > d/random; seq 100000 > d/e/numbers; echo hello > a.txt; ln -s ../a.txt d/link
    ln a.txt d/hard; truncate -s 2M sparse; echo end >> sparse; echo long > $(printf 'n%.0s' $(seq 200))
    cd ../source
    tar -C ../tree -cSf gnu.tar .; tar -C ../tree --format=pax -cSf pax.tar .
    for c in gzip bzip2 xz zstd; do $c -q -k pax.tar; done; xz -q -c --block-size=1MiB gnu.tar > blocks.txz
    seq 100000 | gzip -c > numbers.txt.gz; head -c 100000 numbers.txt.gz > cut.txt.gz
    cp pax.tar.gz unknown; gzip -q -c pax.tar.gz > twice.gz
    for n in 1 2 3; do
      printf 'From a Mon Jan  1 00:00:0%d 2024\\nFrom: A <a@example.com>\\nSubject: Number %d\\n\\nText %d\\n\\n' $n $n $n
    done > list.mbox
    gzip -c list.mbox > 2024-May.txt.gz; xz -k list.mbox; zstd -q -k list.mbox; bzip2 -k list.mbox
    """

  @Test("a TAR archive is a tree, however it is compressed") func tarArchivesOfEveryCompressionAreRead() async throws {
    try await withScratch { scratch in
      let made = try await shell(Self.make, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let compare = """
        for a in gnu.tar pax.tar pax.tar.gz pax.tar.bz2 pax.tar.xz pax.tar.zst blocks.txz unknown; do
          diff -r --no-dereference $a.contents "$2/tree" && echo $a
        done
        """
      let all = "gnu.tar\npax.tar\npax.tar.gz\npax.tar.bz2\npax.tar.xz\npax.tar.zst\nblocks.txz\nunknown\n"
      try await withMount(scratch) { mount in
        #expect(try await mount.shell(compare, scratch) == all)
        let said = try await mount.shell(
          """
          ls -d *.contents | tr '\\n' ' '; echo
          stat -c %h gnu.tar.contents/a.txt; [ gnu.tar.contents/a.txt -ef gnu.tar.contents/d/hard ] && echo one file
          cmp numbers.txt.gz.contents/numbers.txt "$2/tree/d/e/numbers" && stat -c %s numbers.txt.gz.contents/*
          tail -c 7 numbers.txt.gz.contents/numbers.txt; diff -r twice.gz.contents/twice pax.tar.gz && echo twice
          cp cut.txt.gz.contents/cut.txt "$2/copy" 2>&1 | grep -o 'Input/output error'
          gzip -dc cut.txt.gz 2> /dev/null | head -c 263000 | cmp - <(head -c 263000 "$2/copy") && echo cut
          python3 -c 'import os; print(os.lseek(os.open("gnu.tar.contents/sparse", 0), 0, os.SEEK_DATA) >> 20)'
          getfattr --only-values -n user.ffmount.error cut.txt.gz.contents; echo
          """, scratch)
        #expect(
          said == """
            2024-May.txt.gz.contents blocks.txz.contents cut.txt.gz.contents gnu.tar.contents list.mbox.bz2.contents \
            list.mbox.xz.contents list.mbox.zst.contents numbers.txt.gz.contents pax.tar.bz2.contents \
            pax.tar.contents pax.tar.gz.contents pax.tar.xz.contents pax.tar.zst.contents twice.gz.contents 
            2
            one file
            588895
            100000
            twice
            Input/output error
            cut
            2
            cut.txt.gz: expected more Deflate data, found the end (at byte 100000)

            """)
        // The messages of a compressed mailbox.
        let mail = try await mount.shell(
          """
          ls -d *.messages | tr '\\n' ' '; echo; ls list.mbox.xz.messages
          for m in 2024-May.txt.gz list.mbox.xz list.mbox.zst list.mbox.bz2; do
            diff -r $m.messages list.mbox.messages && ls $m.views/by-sender
          done
          """, scratch)
        #expect(
          mail == """
            2024-May.txt.gz.messages list.mbox.bz2.messages list.mbox.messages list.mbox.xz.messages \
            list.mbox.zst.messages 
            000001 2024-01-01 A - Number 1
            000002 2024-01-01 A - Number 2
            000003 2024-01-01 A - Number 3
            a@example.com
            a@example.com
            a@example.com
            a@example.com

            """)
      }
      // From the index; and the archive as the source of a mount.
      try await withMount(scratch) { mount in
        let said = try await mount.shell(compare, scratch)
        #expect(said == all)
      }
      try await withMount(scratch.source + "/pax.tar.xz", at: scratch.mountpoint) { mount in
        let said = try await mount.shell("diff -r --no-dereference . \"$2/tree\" && echo same", scratch)
        #expect(said == "same\n")
      }
    }
  }
}
