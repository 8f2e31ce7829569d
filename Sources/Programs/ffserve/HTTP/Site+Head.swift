import NIOHTTP1

extension Site {
  /// The start of an answer, with what each has, and how its body ends (RFC 9112, section 6).
  ///
  /// - Parameters:
  ///   - inChunks: whether a body of unknown length comes in chunks; else the connection's end is its end, or there is no
  ///     body.
  ///   - isLast: whether the connection ends after it.
  func head(of response: Response, inChunks: Bool, isLast: Bool) -> HTTPResponseHead {
    var head = HTTPResponseHead(version: .http1_1, status: response.status)
    for (name, value) in response.headers { head.headers.add(name: name, value: value) }
    for (name, value) in usualHeaders { head.headers.add(name: name, value: value) }
    head.headers.add(name: "Date", value: date)
    if response.status != .notModified {
      if let length = response.length {
        head.headers.replaceOrAdd(name: "Content-Length", value: String(length))
      } else if inChunks {
        head.headers.add(name: "Transfer-Encoding", value: "chunked")
      }
    }
    if isLast { head.headers.add(name: "Connection", value: "close") }
    return head
  }
}
