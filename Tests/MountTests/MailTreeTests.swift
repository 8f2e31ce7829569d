import Glibc
import TestSupport
import Testing

/// `FOLDER.messages/` and `FOLDER.views/` of trees of mailboxes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MailTreeTests {
  private static let trees = ["thunderbird", "apple-mail", "maildirs", "mh-tree"]

  /// The mails of `SearchTests`, each with an id, as a mailbox and as trees, and a cache folder of its own.
  private func withTrees(_ body: (MountScratch) async throws -> Void) async throws {
    try await withScratch { scratch in
      let mails = SearchTests.mails.enumerated().map { number, mail in
        mail.replacing("\nSubject:", with: "\nMessage-ID: <\(number)@example.com>\nSubject:", maxReplacements: 1)
      }
      try scratch.write("a.mbox", mails.joined())
      try await script("mail_trees.py", scratch.source + "/a.mbox", scratch.source)
      try await body(scratch)
    }
  }

  private func mounted(_ scratch: MountScratch, _ body: (MountProcess) async throws -> Void) async throws {
    try await withMount(scratch, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"], body)
  }

  @Test func mailboxTreeMatchesEquivalentMailbox() async throws {
    try await withTrees { scratch in
      let queries = SearchTests.queries.map(\.0).filter { !$0.contains("label:") }
      for _ in 0..<2 {
        try await mounted(scratch) { mount in
          let trees = Self.trees.joined(separator: " ")
          try await script(
            "compare_mail_folders.py", mount.mountpoint, "a.mbox", trees, queries.joined(separator: "\n"))
        }
      }
      for query in queries.prefix(8) {
        var hits: [[String]] = []
        for place in ["a.mbox", "thunderbird", "maildirs"] {
          let words = [MountProcess.binary, "search", "--mail", "\(scratch.source)/\(place)", query]
          let result = try await MountChild(words, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"])
            .wait(atMost: 20)
          #expect(result.status == (result.lines.isEmpty ? 1 : 0), "\(place): \(result.errors)")
          #expect(result.lines.isEmpty == result.errors.contains("no message in"), "\(place): \(result.errors)")
          hits.append(result.lines.map { String($0.drop { $0 != "/" }) })
        }
        #expect(hits[1] == hits[0] && hits[2] == hits[0], "\(query)")
      }
    }
  }

  @Test func mailFoldersBecomeLabels() async throws {
    try await withTrees { scratch in
      try await mounted(scratch) { mount in
        let said = try await mount.shell(
          """
          for tree in thunderbird apple-mail maildirs mh-tree
          do echo $tree; (cd $tree.views/by-label; find . -mindepth 1 -type d -name '0*' -prune -o -type d -print | LC_ALL=C sort); done
          ls "apple-mail.views/search/label:inbox" | wc -l; ls maildirs.views/search/label:entwürfe | cut -c-6
          for tree in thunderbird maildirs
          do getfattr --only-values -n user.ffmount.source $tree.messages/000001*; echo; done; ls -d *.views
          mkdir $S/Empty.sbd; ls -d Empty.sbd.views apple-mail/*.views thunderbird/*/*/*.views; ls -A Empty.sbd.views
          """, scratch)
        #expect(
          said == """
            thunderbird
            ./C++
            ./Inbox
            ./Mail
            ./Mail/Local Folders
            ./Mail/Local Folders/Archiv.2023
            ./Mail/Local Folders/Inbox
            ./Mail/Local Folders/Inbox/Sub
            ./Mail/Local Folders/list
            ./Work
            ./Work/Project A
            apple-mail
            ./Archive
            ./C++
            ./Inbox
            ./Inbox/Work
            ./Work
            ./Work/Project A
            maildirs
            ./C++
            ./Entwürfe
            ./Inbox
            ./Sent
            ./Sent/2023
            ./Work
            ./Work/Project A
            mh-tree
            ./C++
            ./Inbox
            ./Work
            ./Work/Project A
            ./box0
            ./box1
            5
            000004
            000005
            thunderbird/Mail/Local Folders/Archiv.2023.messages/000001 2024-05-03 Anna Berg - Q3 numbers
            maildirs/cur/1700000000.M0P1.host:2,S
            a.mbox.views
            maildirs.views
            Empty.sbd.views
            apple-mail/Archive.mbox.views
            apple-mail/Inbox.mbox.views
            thunderbird/Mail/Local Folders/Inbox.sbd.views
            thunderbird/Mail/Local Folders/Inbox.views
            thunderbird/Mail/Local Folders/list.mbox.gz.views

            """, "\(said)")
      }
    }
  }

  @Test func onlyDuplicateMessagesAreHidden() async throws {
    try await withTrees { scratch in
      for _ in 0..<2 {
        try await mounted(scratch) { mount in
          let said = try await mount.shell(
            """
            ls copies.messages | wc -l; ls a.mbox.messages | wc -l
            getfattr --only-values -n user.ffmount.also copies.messages/000001*; echo
            getfattr -n user.ffmount.also copies.messages/000003* 2>&1 | grep -c 'No such attribute'
            for label in All Sent Zwei Spoofed; do echo $label $(ls copies.views/by-label/$label | cut -c-6); done
            ls copies.views/search/1,000,000 | cut -c-6; ls 'copies.views/search/Q3' | cut -c-6
            """, scratch)
          #expect(
            said == """
              7
              6
              copies/Zwei.mbox.messages/000001 2024-05-03 Anna Berg - Q3 numbers
              copies/Sent/0.eml
              1
              All 000001 000002 000003 000004 000005 000006
              Sent 000001 000002
              Zwei 000001 000002
              Spoofed 000007
              000007
              000001

              """, "\(said)")
        }
      }
    }
  }

  @Test func invalidMailboxDoesNotHideOthers() async throws {
    try await withTrees { scratch in
      try scratch.write("mh-tree/Junk.mbox", "This is no mailbox.\n")
      try await mounted(scratch) { mount in
        let said = try await mount.shell(
          """
          ls mh-tree.messages 2>&1 | cut -c-6; ls mh-tree.views/search/invoice 2>&1 | cut -c-6
          getfattr --only-values -n user.ffmount.error mh-tree.messages | grep -o 'found no message'
          """, scratch)
        #expect(
          said == """
            ls: re
            000001
            000002
            000003
            000004
            000005
            000006
            ls: re
            000001
            000002
            found no message

            """, "\(said)")
      }
    }
  }

  @Test func changeInOneMailboxAppearsInTheTree() async throws {
    try await withTrees { scratch in
      try await mounted(scratch) { mount in
        let said = try await mount.shell(
          """
          q() { echo $(ls "$1.views/search/$2" | cut -c-6); }
          q maildirs okapi; q thunderbird okapi; exec 5<"$(ls -d thunderbird.messages/000001*)/headers.txt"
          printf 'From: n@example.com\\n\\nan okapi\\n' >$S/maildirs/.Entw\\&APw-rfe/new/1600000000.M9P1.host; q maildirs okapi
          printf 'From - Mon Jan  1 00:00:00 2018\\nFrom: n@example.com\\n\\nan okapi\\n\\n' >"$S/thunderbird/Mail/New.mbox"
          q thunderbird okapi; printf 'From - Mon Jan  1 00:00:00 2018\\nFrom: o@example.com\\n\\nokapi\\n\\n' >>$S/thunderbird/Mail/New.mbox
          sleep .1; q thunderbird okapi; grep -c From <&5; exec 5<&-; rm $S/maildirs/.Entw\\&APw-rfe/new/*; q maildirs okapi
          mv $S/thunderbird/Mail $S/moved; ls thunderbird.views/by-date 2>&1 | grep -c 'No such'
          """, scratch)
        #expect(
          said == """


            000007
            000007
            000007 000008
            1

            1

            """, "\(said)")
      }
    }
  }
}
