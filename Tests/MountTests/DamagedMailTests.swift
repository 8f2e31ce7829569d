import TestSupport
import Testing

/// Mail in compressed files of which a part does not agree with its checksum, or is missing.
@Suite(.serialized, .timeLimit(.minutes(5))) struct DamagedMailTests {
  /// Four members of two messages each. In `sum` the second member has a wrong checksum; in `cut` the third one breaks off.
  private static let make = """
    import bz2, gzip, lzma, os, random, sys
    os.chdir(sys.argv[1])
    random.seed(7)
    def message(number):
        lines = "".join(f"{random.getrandbits(200):x}\\n" for _ in range(1200))
        head = "From a@b Fri May  3 10:00:00 2024\\nFrom: a@b\\nDate: Fri, 3 May 2024 10:00:00 +0000\\n"
        return f"{head}Subject: s{number}\\n\\n{lines}\\n".encode()
    pairs = [message(n) + message(n + 1) for n in range(1, 9, 2)]
    members = [gzip.compress(pair, mtime=0) for pair in pairs]
    def flipped(data, place):
        data = bytearray(data)
        data[place] ^= 1
        return bytes(data)
    files = {
        "good.mbox.gz": b"".join(members),
        "sum.mbox.gz": b"".join([members[0], flipped(members[1], -6), members[2], members[3]]),
        "cut.mbox.gz": b"".join(members[:2]) + members[2][:len(members[2]) * 3 // 4],
        "block.mbox.bz2": flipped(bz2.compress(b"".join(pairs), 1), 180_000),
        "one.eml.xz": flipped(lzma.compress(pairs[0].split(b"\\n", 1)[1]), 2000),
    }
    for name, data in files.items():
        with open(name, "wb") as file:
            file.write(data)
    """

  /// Prints, for each message of a mailbox, its subject, whether it and its text can be read, and its state.
  private static let look = """
    state() { getfattr --only-values -n user.ffmount.state "$1" 2>> $O/errors || echo -n fails; }
    can() { if cat "$1" > $O/bytes 2>> $O/errors; then echo -n "read "; else echo -n "fails "; fi; }
    show() {
      ls $1.messages > $O/names 2>> $O/errors
      echo $1 $(state $1.messages)
      for m in $1.messages/*; do
        echo -n "${m##* } "; can "$m/message.eml"; can "$m/body.txt"; state "$m"; echo -n " "; state "$m/message.eml"; echo
      done
    }
    """

  @Test func messagesNextToDamageAreRead() async throws {
    try await withScratch { scratch in
      let made = try await shell(
        "cat > \"$1/make.py\" <<'P'\n\(Self.make)\nP\npython3 \"$1/make.py\" \"$1/source\"", scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      // The second mount takes what the first one has found from the index.
      for round in 0..<2 {
        try await withMount(scratch) { mount in
          let good = (1...8).map { "s\($0) read read exact exact" }
          func shown(_ name: String) async throws -> [String] {
            try await mount.shell(Self.look + "\nshow \(name)", scratch).split(separator: "\n").map(String.init)
          }
          #expect(try await shown("good.mbox.gz") == ["good.mbox.gz exact"] + good, "round \(round)")
          let bad = ["s3 fails fails failed failed", "s4 fails fails failed failed"]
          #expect(
            try await shown("sum.mbox.gz") == ["sum.mbox.gz failed"] + good[..<2] + bad + good[4...], "round \(round)")
          let cut = try await shown("cut.mbox.gz")
          #expect(cut.first == "cut.mbox.gz failed" && cut.last == "s6 fails fails failed failed", "\(cut)")
          #expect(cut.dropFirst().prefix(4) == good[..<4], "\(cut)")
          // Its member has no checksum any more.
          #expect(cut.dropFirst(5).first == "s5 read read unverified unverified", "\(cut)")
          let block = try await shown("block.mbox.bz2")
          try #require(block.first == "block.mbox.bz2 failed" && block.count > 2, "\(block)")
          #expect(block.last?.hasSuffix(" fails fails failed failed") == true, "\(block)")
          #expect(block.dropFirst().dropLast() == good[..<(block.count - 2)], "\(block)")
          let inside = try await shown("block.mbox.bz2.contents/block.mbox")
          #expect(inside.first == "block.mbox.bz2.contents/block.mbox failed", "\(inside)")
          #expect(inside.dropFirst() == block.dropFirst(), "\(inside)")
          let one = try await mount.shell(
            Self.look + "\nls one.eml.xz.contents/one.eml.message; can one.eml.xz.contents/one.eml.message/body.txt; "
              + "state one.eml.xz.contents/one.eml.message", scratch)
          #expect(one == "body.txt\nheaders.txt\nmessage.eml\nfails failed", "round \(round)")
        }
      }
    }
  }
}
