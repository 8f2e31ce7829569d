import Glibc
import TestSupport
import Testing

/// `FOLDER.messages/` and `FOLDER.views/` of folders of message files.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MailFolderTests {
  private static let folders = ["Maildir", "eml", "mh", "apple"]

  /// The mails of `SearchTests` as a mailbox and as folders of each kind, and a cache folder of its own.
  private func withFolders(_ body: (MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      try scratch.write("a.mbox", SearchTests.mails.joined())
      try await script("mail_folders.py", scratch.source + "/a.mbox", scratch.source)
      try await body(scratch)
    }
  }

  private func mounted(_ scratch: MountScratch, _ body: (MountProcess) async throws -> Void) async throws {
    try await withMount(scratch, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"], body)
  }

  @Test func mailDirectoryMatchesEquivalentMailbox() async throws {
    try await withFolders { scratch in
      for _ in 0..<2 {
        try await mounted(scratch) { mount in
          let queries = SearchTests.queries.map(\.0).joined(separator: "\n")
          let folders = Self.folders.joined(separator: " ")
          try await script("compare_mail_folders.py", mount.mountpoint, "a.mbox", folders, queries)
        }
      }
    }
  }

  @Test func maildirViewsAreListedAndFlagsAreLabels() async throws {
    try await withFolders { scratch in
      try await mounted(scratch) { mount in
        let said = try await mount.shell(
          """
          mkdir $S/almost $S/almost/cur $S/almost/new $S/hidden; cp $S/eml/*1* $S/hidden/.not.txt; ln -s ../eml $S/eml/more
          ln -s 001\\ mail.eml $S/eml/link.eml
          echo $(ls -A . Maildir | grep -v txt)
          (cd Maildir.views/by-label; find . -mindepth 2 -maxdepth 2 -name '0*' | cut -d' ' -f1 | sort)
          echo $(ls -d Maildir.views/search*) $(ls Maildir.views/deleted 'Maildir.views/search/is:deleted' | cut -c-6)
          ls apple.views/by-label/flagged | cut -c-6; ls Maildir/.Sent.messages | wc -l; ls eml.messages | wc -l
          ls hidden.views almost.views 000.messages; getfattr --only-values -n user.ffmount.source Maildir.views
          """, scratch)
        #expect(
          said == """
            .: Maildir Maildir.views a.mbox a.mbox.messages a.mbox.views almost apple eml hidden mh Maildir: .Sent .Sent.views \
            cur new tmp
            ./C++/000004
            ./Inbox/000001
            ./Inbox/000002
            ./Inbox/000003
            ./Inbox/000004
            ./Inbox/000005
            ./Inbox/000006
            ./draft/000005
            ./flagged/000003
            ./passed/000004
            ./replied/000004
            ./unread/000001
            Maildir.views/search Maildi 000006 Maildi 000006
            000003
            0
            6
            ls: cannot access 'hidden.views': No such file or directory
            ls: cannot access 'almost.views': No such file or directory
            ls: cannot access '000.messages': No such file or directory
            Maildir
            """)
      }
    }
  }

  @Test func addedRemovedAndChangedMessagesAreShown() async throws {
    try await withFolders { scratch in
      try await mounted(scratch) { mount in
        let said = try await mount.shell(
          """
          q() { echo $(ls "Maildir.views/search/$1" | cut -c-6); }
          q invoice; q zebra; q label:flagged; exec 5<"$(ls -d Maildir.messages/000003*)/headers.txt"
          mv $S/Maildir/cur/1700000002* $S/Maildir/cur/1700000002.M2P1.host:2,R; q label:flagged; q 会議; grep -c . <&5; exec 5<&-
          printf 'From: n@example.com\\n\\nan invoice\\n' >$S/Maildir/tmp/x; mv $S/Maildir/tmp/x $S/Maildir/new/1600000000.M9P1.host
          q invoice; ls Maildir.messages | cut -c-6 | tail -1
          mv $S/Maildir/new/1700000000* $S/; q invoice; mv $S/1700000000* $S/Maildir/cur/; q invoice
          sed -i s/zebra/okapi/ $S/eml/004*; sleep 1.1; ls eml.views/search/zebra eml.views/search/okapi | cut -c-6
          """, scratch)
        #expect(
          said == """
            000001 000002
            000005
            000003

            000003
            5
            000001 000002 000007
            000007
            000002 000007
            000001 000002 000007
            eml.vi
            000005

            eml.vi

            """)
      }
      for (folder, query, hits) in [("Maildir", "invoice", 3), ("eml", "okapi", 1), ("Maildir/.Sent", "invoice", 0)] {
        let words = [MountProcess.binary, "search", "--mail", "\(scratch.source)/\(folder)", query]
        let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
        let result = try await MountChild(words, environment: environment).wait(atMost: 20)
        #expect(result.status == (hits == 0 ? 1 : 0), "\(folder): \(result.errors)")
        #expect(result.lines.count == hits, "\(folder): \(result.text)")
      }
    }
  }

  @Test(.enabled(if: MountScratch.isRoot, "needs root"), arguments: [false, true])
  func mailDirectoryViewRequiresAccessToAllFiles(isSupervised: Bool) async throws {
    try await withFolders { scratch in
      try await withMount(
        scratch, options: ["-o", "allow_other"], environment: ["XDG_CACHE_HOME": scratch.path + "/cache"],
        isSupervised: isSupervised
      ) { mount in
        let said = try await mount.shell(
          """
          cd ..; chmod 755 . mnt/..; o() { setpriv --reuid=65534 --regid=65534 --clear-groups ls "$@" 2>&1 | wc -l; }
          for f in mh eml; do chmod 755 $S/$f; chmod 644 $S/$f/*; done; chmod 600 "$S/eml/002 mail.eml"
          o mnt/mh.messages; o mnt/eml.messages; stat -c %A mnt/mh.views mnt/eml.views
          chmod 711 $S/mh; sleep 1.1; o mnt/mh.messages
          """, scratch)
        #expect(said == "6\n1\ndrwxr-xr-x\ndrwx------\n1\n")
      }
    }
  }

  /// A search finds words of the other messages, and stores nothing that would hide the message later.
  @Test(.enabled(if: MountScratch.isRoot, "needs root")) func unreadableMessageIsFoundOnceReadable() async throws {
    try await withScratch { scratch in
      let said = try await shell(
        """
        set -e; cd "$1"; mkdir -p home M/{cur,new,tmp}
        for n in 1 2 3; do printf 'From: a@x.org\nSubject: Letter %s\n\nan okapi\n' $n > M/cur/$n.M$n.h:2,S; done
        chmod 711 .; chmod 600 M/cur/2.*; chown 65534 home
        o() {
          timeout 30 setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_CACHE_HOME=$PWD/home "$@" 2>&1 | cut -f 1
        }
        for mode in 600 600 644; do chmod $mode M/cur/2.*; o "$2" search --mail M okapi; echo status ${PIPESTATUS[0]}; done
        """, scratch.path, MountProcess.binary)
      let readable = ["cur/3.M3.h:2,S.message", "cur/1.M1.h:2,S.message", "status 0"]
      let all = [readable[0], "cur/2.M2.h:2,S.message", readable[1], "status 0"]
      #expect(said.lines == readable + readable + all, "\(said.errors)")
    }
  }

  /// What could not be read is not kept: it is read again by the next mount.
  @Test(.enabled(if: MountScratch.isRoot, "needs root")) func failedMessagesAreReadAgainByNextMount() async throws {
    try await withScratch { scratch in
      let said = try await shell(
        """
        set -e; cd "$1"; mkdir -p files/M/{cur,new,tmp} slow mnt; export XDG_CACHE_HOME=$1/cache
        for n in 1 2 3; do
          printf 'From: a@x.org\nSubject: Letter %s\nDate: Fri, 3 May 2024 10:00:00 +0000\n\nx\n' $n > files/M/cur/$n.M$n.h:2,S
        done
        echo M2 > files/.failing; "$3" -B "$4" files slow 0 & server=$!
        for n in {1..3000}; do mountpoint -q slow && break; sleep .01; done
        trap '"$2" -u mnt 2> /dev/null || :; umount slow; wait $server' EXIT
        for round in 1 2; do "$2" slow mnt; ls mnt/M.messages; "$2" -u mnt; rm -f files/.failing; done
        """, scratch.path, MountProcess.binary, MountScratch.python, MountScratch.package + "/Tests/Scripts/delayed.py")
      let (first, last) = ("000001 2024-05-03 a@x.org - Letter 1", "000003 2024-05-03 a@x.org - Letter 3")
      let failed = "000002 undated unknown sender - no subject"
      #expect(
        said.lines == [first, failed, last, first, "000002 2024-05-03 a@x.org - Letter 2", last], "\(said.errors)")
    }
  }

  @Test func messagesWithAnyFileNameAreShown() async throws {
    try await withScratch { scratch in
      try await script("hostile_maildir.py", scratch.source + "/Maildir")
      try await mounted(scratch) { mount in
        let said = try await mount.shell(
          """
          cd Maildir.messages; echo $(ls -A | wc -l) $(ls ../Maildir.views/by-label/flagged | wc -l)
          cat */message.eml | grep -ac '^body'; cat */body.txt | sort -u | wc -l; ls -A | LC_ALL=C grep -c '[[:cntrl:]]'
          ls ../Maildir.views/search/odd | wc -l; getfattr -n user.ffmount.source * >/dev/null && echo read
          """, scratch)
        // Names that start with a dot are none, and six have the flag F.
        #expect(said == "20 6\n20\n20\n0\n20\nread\n", "\(said)")
      }
    }
  }

  @Test func listingContinuesWhileMessagesChange() async throws {
    try await withScratch { scratch in
      try await mounted(scratch) { mount in
        try await script("listed_while_changed.py", mount.mountpoint, scratch.source + "/Maildir")
      }
    }
  }

  @Test func twoMountsShareOneMailIndex() async throws {
    try await withFolders { scratch in
      try await mounted(scratch) { one in
        let other = scratch.path + "/other"
        try #require(unsafe mkdir(other, 0o700) == 0)
        let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
        try await withMount(scratch.source, at: other, environment: environment) { two in
          for round in 0..<4 {
            let said = try await shell(
              """
              printf 'From: n@example.com\\nSubject: round \(round)\\n\\nquokka\\n' >$1/tmp/x; mv $1/tmp/x $1/new/18000\(round).host
              ls "$2/Maildir.views/search/quokka" >/dev/null & ls "$3/Maildir.views/search/quokka" >/dev/null; wait
              [ \(round) = 2 ] && rm $1/new/180000.host; sleep .1
              for m in "$2" "$3"; do ls "$m/Maildir.views/search/quokka" | cut -c-6 | paste -sd' '; ls "$m/Maildir.messages" | md5sum; done | sort | uniq -c | grep -c '^ *2 '
              """, scratch.source + "/Maildir", one.mountpoint, two.mountpoint)
            #expect(said.text == "2\n", "\(round): \(said.text)\(said.errors)")
          }
        }
      }
    }
  }
}
