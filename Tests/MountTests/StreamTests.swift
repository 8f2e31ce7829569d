import TestSupport
import Testing

/// Files that are read while a worker makes them, by programs as they are.
///
/// The worker makes the second half when there is a gate: what is read before that is read while it is made.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StreamTests {
  /// Runs commands on a mount of `known.flac`, of whose results the size is known beforehand, and `unknown.flac`. `$E` is
  /// what both become, `$G` the gate; `$PLAYER` copies a file to its output, as cat does, and is called as a player is,
  /// `$OTHER` as one that an option names.
  private func run(_ lines: String) async throws -> String {
    try await withScratch { scratch in
      let text = (0..<30_000).map { "\($0)\n" }.joined()
      for name in ["known", "unknown"] {
        try scratch.write("\(name).flac", "gate \(scratch.path)/gate \(name)\n" + text)
      }
      return try await withMount(
        scratch, options: ["-o", "converter=\(RenditionTests.worker),workers=2,players=sing:dance"],
        environment: ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      ) { mount in
        let start = """
          G=\(scratch.path)/gate PLAYER=\(scratch.path)/mpv E=\(scratch.path)/expected
          OTHER=\(scratch.path)/dance
          cp "$(command -v cat)" $PLAYER; cp $PLAYER $OTHER; tail -n +2 $S/known.flac > $E; mkfifo $O/pipe
          """
        return try await mount.shell(start + "\n" + lines, scratch)
      }
    }
  }

  @Test func playersReadAvailableBytesAndOthersWait() async throws {
    let said = try await run(
      """
      f=unknown.flac.as-mp3
      $PLAYER $f > $O/pipe & exec 3< $O/pipe
      head -c 1000 <&3 | cmp -n 1000 - $E && echo first
      list | grep -o 'converting unknown.*50 %' | sed 's/ (.*:/:/'
      timeout 1 cat $f > $O/early; echo $? $(stat -c %s $O/early)
      touch $G; cat <&3 > $O/rest; wait; tail -c +1001 $E | cmp - $O/rest && echo rest
      cat $f | cmp - $E && echo whole
      [ $(stat -c %s $f) -eq $(stat -c %s $E) ] && getfattr --only-values -n user.ffmount.state $f && echo
      list | grep -o '[0-9]* converted'
      """)
    #expect(
      said == "first\nconverting unknown.flac: 50 %\n124 0\nrest\nwhole\nexact\n1 converted\n")
  }

  /// Of a size that was measured, everybody is told before there is a byte, and reads what there is.
  @Test func filesOfMeasuredSizeAreReadDuringConversion() async throws {
    let said = try await run(
      """
      f=known.flac.as-mp3
      [ $(stat -c %s $f) -eq $(stat -c %s $E) ] && echo size; list | grep -c converting
      head -c 1000 $f | cmp -n 1000 - $E && echo first
      timeout 1 tail -c 10 $f; echo $?
      touch $G; tail -c 10 $f | cmp - <(tail -c 10 $E) && cmp $f $E && echo whole
      """)
    #expect(said == "size\n0\nfirst\n124\nwhole\n")
  }

  /// Nobody waits for what he did not ask for.
  @Test func streamingConversionEndsWithItsLastReader() async throws {
    let said = try await run(
      """
      $OTHER unknown.flac.as-mp3 | head -c 1000 | cmp -n 1000 - $E && echo first
      timeout 1 cat unknown.flac.as-mp3; echo $?
      for i in $(seq 300); do list | grep -q converting || break; sleep 0.1; done; list | grep -c 'converting\\|[0-9] converted'
      touch $G; cmp unknown.flac.as-mp3 $E && list | grep -o '[0-9]* converted'
      """)
    #expect(said == "first\n124\n0\n1 converted\n")
  }

  /// Who writes the size down first is told the exact one, whatever that takes; others are not kept waiting.
  @Test func archiversWaitForTheExactSize() async throws {
    let said = try await run(
      """
      size() { "$1" . -name unknown.flac.as-mp3 -printf %s; }
      cp "$(command -v find)" $O/cpio
      [ $(size find) -ne $(stat -c %s $E) ] && echo estimate
      timeout 1 $O/cpio . -name unknown.flac.as-mp3 -printf %s; echo $?
      touch $G; [ $(size $O/cpio) -eq $(stat -c %s $E) ] && echo exact
      """)
    #expect(said == "estimate\n124\nexact\n")
  }

  /// Parts are made one by one; the gate is for what is made as a whole, and stays closed.
  @Test func partsAreConvertedOnDemand() async throws {
    let said = try await run(
      """
      f=known.flac.as-wav
      [ $(stat -c %s $f) -eq $(stat -c %s $E) ] && echo size
      tail -c 10 $f | cmp - <(tail -c 10 $E) && head -c 5000 $f | cmp -n 5000 - $E && echo parts
      cat $f | cmp - $E && cp $f $O/copy && cmp $O/copy $E && tar -cf - $f | tar -xOf - | cmp - $E && echo whole
      busybox cat $f | cmp - $E && dd if=$f bs=777 skip=33 count=55 status=none | cmp - <(dd if=$E bs=777 skip=33 count=55 \
      status=none) && echo any
      """)
    #expect(said == "size\nparts\nwhole\nany\n")
  }
}
