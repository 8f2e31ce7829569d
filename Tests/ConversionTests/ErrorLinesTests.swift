import Files
import Glibc
import Synchronization
import Testing

@testable import Jobs

/// The standard error of a worker.
@Suite struct ErrorLinesTests {
  @Test func errorLinesAreTruncatedAndSanitized() throws {
    var ends: [Int32] = [0, 0]
    try #require(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let writer = Descriptor(owning: ends[1])
    let told = Mutex<[String]>([])
    let lines = ErrorLogger(Descriptor(owning: ends[0])) { line in told.withLock { $0.append(line) } }
    let text = Array((String(repeating: "x", count: 20_000) + "\na\u{1b}b\tc\n\nhalf").utf8)
    #expect(unsafe text.withUnsafeBytes { unsafe write(writer.raw, $0.baseAddress, $0.count) } == text.count)
    lines.read()
    #expect(told.withLock { $0.map(\.utf8.count) } == [500, 5] && told.withLock { $0.last } == "a b c")
    #expect(lines.isOpen)
    // A read without data is not the end, and the end does not emit an incomplete line.
    lines.read()
    shutdown(writer.raw, Int32(SHUT_WR))
    lines.read()
    #expect(!lines.isOpen && told.withLock { $0.count } == 2)
  }
}
