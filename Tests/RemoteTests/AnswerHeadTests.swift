import Testing

@testable import ffremote

/// The headers of a server, which can be hostile.
@Suite struct AnswerHeadTests {
  private func head(_ lines: String...) -> AnswerHead? {
    var head = AnswerHead()
    for line in lines {
      let isAccepted = unsafe Array((line + "\r\n").utf8).withUnsafeBytes { unsafe head.add($0) }
      if !isAccepted { return nil }
    }
    return head
  }

  @Test(
    arguments: [
      ("bytes 0-99/1234", 0..<100), ("bytes 5-5/6", 5..<6), ("bytes 0-0/1", 0..<1), ("bytes 6-5/9", nil),
      ("bytes 0-9/9", nil),
      ("bytes 9-9/9", nil), ("bytes 0-99/*", nil), ("bytes */1234", nil), ("bytes -1-5/9", nil), ("bytes 0-5", nil),
      ("bytes 0-5/9/9", nil), ("bytes 0-5-6/9", nil), ("0-5/9", nil), ("lines 0-5/9", nil), ("bytes 0x1-5/9", nil),
      ("bytes 0-9223372036854775807/9223372036854775807", nil), ("bytes 0-5/9223372036854775807", nil),
      ("bytes 0-99999999999999999999/199999999999999999999", nil), ("bytes 0-5/+9", nil), ("bytes +0-5/9", nil),
    ] as [(String, Range<Int64>?)])
  func rangesAreBounded(_ value: String, _ range: Range<Int64>?) throws {
    let part = try #require(head("HTTP/1.1 206 Partial Content", "Content-Range: \(value)")).part
    #expect(part?.range == range)
  }

  @Test func sizesAreBounded() throws {
    let largest = Int64(1) << 61
    for (text, size) in [
      ("0", 0), ("1234", 1234), ("", nil), ("-1", nil), ("+1", nil), ("1.5", nil), ("1 2", nil), ("٣", nil),
    ] as [(String, Int64?)] {
      #expect(try #require(head("HTTP/1.1 200 OK", "content-length:\(text)")).length == size, "\(text)")
      #expect(try #require(head("HTTP/1.1 416 No", "CONTENT-RANGE: bytes */\(text)")).sizeAlone == size, "\(text)")
    }
    for text in ["9223372036854775807", "9223372036854775808", "\(largest)", "99999999999999999999999999"] {
      #expect(try #require(head("HTTP/1.1 200 OK", "Content-Length: \(text)")).length == nil, "\(text)")
      #expect(try #require(head("HTTP/1.1 416 No", "Content-Range: bytes */\(text)")).sizeAlone == nil, "\(text)")
    }
  }

  @Test func emptyFilesAreRecognized() throws {
    #expect(try #require(head("HTTP/1.1 416 No", "Content-Range: bytes */0")).isOfNothing)
    #expect(try #require(head("HTTP/1.1 416 No")).isOfNothing)
    #expect(try !#require(head("HTTP/1.1 416 No", "Content-Range: bytes */1")).isOfNothing)
    #expect(try !#require(head("HTTP/1.1 200 OK", "Content-Range: bytes */0")).isOfNothing)
  }

  @Test func laterResponseReplacesAnEarlierOne() throws {
    let found = try #require(
      head(
        "HTTP/1.1 100 Continue", "ETag: \"old\"", "Location: /old", "HTTP/2 200", "ETag: W/\"new\"",
        "Content-Type: Text/HTML; charset=x"))
    #expect(
      found.status == 200 && found.tag == nil && found.version == "\"new\"" && found.location == nil
        && found.type == "text/html")
    #expect(try #require(head("HTTP/1.1 200 OK", "ETag: \"a-b\" ")).tag == "\"a-b\"")
  }

  @Test(arguments: [
    "HTTP/1.1", "HTTP/1.1 ", "HTTP/1.1 x", "HTTP/1.1 99 Low", "HTTP/1.1 600 High", "HTTP/1.1 99999999999999999999 High",
    "HTTP/1.1 -200",
  ])
  func statusThatIsNoneEndsTheResponse(_ line: String) { #expect(head(line) == nil) }

  @Test func otherHeadersAreBounded() throws {
    func head(_ line: String) throws -> AnswerHead { try #require(self.head("HTTP/1.1 503 No", line)) }
    #expect(try head("Retry-After: 7").retryAfter == 7 && head("Retry-After: 99999999").retryAfter == 3600)
    #expect(
      try head("Retry-After: Sun, 06 Nov 1994 08:49:37 GMT").retryAfter == nil
        && head("Retry-After: -1").retryAfter == nil)
    #expect(try head("Location: /" + String(repeating: "a", count: 8191)).location?.utf8.count == 8192)
    #expect(try head("Location: /" + String(repeating: "a", count: 8192)).location == nil)
    #expect(try head("Content-Encoding: gzip").isEncoded && head("Content-Encoding: br, gzip").isEncoded)
    #expect(
      try !head("Content-Encoding: Identity").isEncoded && !head("Content-Encoding:").isEncoded
        && !head("no header").isEncoded)
    #expect(
      try head("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT").modified == 784_111_777
        && head("Last-Modified: now").modified == nil)
    // All headers of all responses together are bounded.
    let long = "X: " + String(repeating: "a", count: 1000)
    var many = AnswerHead()
    var count = 0
    while count < 1000, unsafe Array(long.utf8).withUnsafeBytes({ unsafe many.add($0) }) {
      count += 1
      if count.isMultiple(of: 10) {
        #expect(unsafe Array("HTTP/1.1 100 Continue".utf8).withUnsafeBytes { unsafe many.add($0) } || count > 60)
      }
    }
    #expect(count < 66)
  }
}
