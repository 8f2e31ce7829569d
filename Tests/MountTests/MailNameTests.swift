import TestSupport
import Testing

/// Names of messages stay while others come and go.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MailNameTests {
  @Test(arguments: ["mbox", "rewritten", "gz", "maildir", "mh", "eml", "apple", "tree", "zip"])
  func messageNamesAreStableWhileMailChanges(_ kind: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]) { mount in
        try await script("mail_names.py", scratch.source, mount.mountpoint, kind, limit: 150)
      }
    }
  }

  @Test func messageNamesAreStableAcrossMounts() async throws {
    try await withScratch { scratch in
      let message = { (number: Int) in
        "From a@x Fri May  3 10:00:00 2024\nFrom: a@example.com\nMessage-ID: <\(number)@x>\nSubject: n\(number)\n\nbody\n\n"
      }
      var names: [String] = []
      for messages in [[1, 2, 3, 4], [1, 3, 4], [1, 3, 4, 5], [5], [1, 2, 3, 4, 5, 6]] {
        try scratch.write("a.mbox", messages.map(message).joined())
        try await withMount(scratch, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]) { mount in
          names.append(try await mount.shell("echo $(ls a.mbox.messages | sed 's/ .* n/n/')", scratch))
        }
      }
      #expect(
        names == [
          "000001n1 000002n2 000003n3 000004n4\n", "000001n1 000003n3 000004n4\n",
          "000001n1 000003n3 000004n4 000005n5\n", "000005n5\n",
          "000001n1 000002n2 000003n3 000004n4 000005n5 000006n6\n",
        ])
      let words = [MountProcess.binary, "search", "\(scratch.source)/a.mbox", "subject:n5"]
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      let found = try await MountChild(words, environment: environment).wait(atMost: 20)
      #expect(found.text.contains("000005"), "\(found.text) \(found.errors)")
    }
  }

  /// The inode number of a removed folder is soon another's, whose messages have numbers of their own.
  @Test func recreatedDirectoryRestartsMessageNumbers() async throws {
    try await withScratch { scratch in
      try await withMount(scratch, environment: ["XDG_CACHE_HOME": scratch.path + "/cache"]) { mount in
        let said = try await mount.shell(
          """
          fill() {
            mkdir -p $S/M/new $S/M/tmp
            for i in "$@"; do
              printf 'From: a@example.com\nSubject: s%s\n\nx\n' $i >$S/M/cur/170000000$i.M$i.host:2,S
            done
          }
          mkdir -p $S/M/cur; fill 1 2; echo $(ls M.messages | cut -c -6); number=$(stat -c %i $S/M)
          for try in 1 2 3 4 5 6 7 8; do
            rm -r $S/M; mkdir $S/M; [ $(stat -c %i $S/M) = $number ] && break
          done
          mkdir $S/M/cur; fill 3 4; echo $(ls M.messages | cut -c -6)
          """, scratch)
        #expect(said == "000001 000002\n000001 000002\n", "\(said)")
      }
    }
  }

  /// A message that only its owner may read any more is not shown to others, though its folder has not changed.
  @Test(.enabled(if: MountScratch.isRoot, "needs root"), arguments: [false, true])
  func messageMadePrivateIsHiddenFromOthers(isSupervised: Bool) async throws {
    try await withScratch { scratch in
      try await withMount(
        scratch, options: ["-o", "allow_other"], environment: ["XDG_CACHE_HOME": scratch.path + "/cache"],
        isSupervised: isSupervised
      ) { mount in
        let said = try await mount.shell(
          """
          cd ..; chmod 755 . mnt/..; mkdir -p $S/M/cur $S/M/new $S/M/tmp
          for i in 1 2; do printf 'From: a@example.com\\nSubject: s\\n\\nx\\n' >$S/M/cur/170000000$i.M1.host:2,S; done
          chmod 755 $S/M $S/M/*; chmod 644 $S/M/cur/*
          o() { setpriv --reuid=65534 --regid=65534 --clear-groups ls "$@" 2>&1 | wc -l; }
          o mnt/M.messages; chmod 600 $S/M/cur/1700000002*; sleep 2.5; o mnt/M.messages; stat -c %a mnt/M.messages
          chmod 644 $S/M/cur/1700000002*; sleep 2.5; o mnt/M.messages
          """, scratch)
        #expect(said == "2\n1\n700\n2\n", "\(said)")
      }
    }
  }
}
