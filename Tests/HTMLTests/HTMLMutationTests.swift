import Testing

@testable import Fuzzing

/// HTML with a few bytes changed: whatever the result, it is safe, and reads are consistent.
@Suite(.timeLimit(.minutes(10))) struct HTMLMutationTests {
  @Test(arguments: 0..<4) func mutatedHTMLIsSanitized(batch: Int) {
    let complaints = FuzzTarget.html.complaints(ofMutations: 150, seed: UInt64(batch))
    #expect(complaints.isEmpty, "batch \(batch): \(complaints)")
  }

  /// Truncated at every length.
  @Test func truncatedHTMLIsSanitized() {
    for seed in FuzzTarget.html.seeds() {
      for count in 0...seed.count {
        #expect(FuzzTarget.html.complaints(Array(seed[..<count])).isEmpty, "\(count) bytes")
      }
    }
  }

  @Test(arguments: [
    "<SCRIPT>", "<script>x</script>", "<p onclick=\"x\">", "<p title=x>", "<img src=\"http://x/\">",
    "<p title=\"a>b\">",
    "<p style=\"a:u\\rl(&quot;http://x/&quot;)\">", "<", "<p", "<!DOCTYPE",
  ]) func unsafeMarkupIsDetected(_ page: String) {
    #expect(StrictPage.oddity(in: Array(page.utf8)) != nil)
  }
}
