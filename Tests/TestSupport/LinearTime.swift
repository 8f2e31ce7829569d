internal import Glibc
public import Testing

/// A reader whose time is to be proportional to its input's size.
///
/// Compares CPU time, which depends on the machine: for the full run only.
public struct LinearTimeReader: CustomTestStringConvertible, Sendable {
  public let testDescription: String
  private let read: @Sendable ([UInt8]) throws -> Void

  public init(_ description: String, _ read: @escaping @Sendable ([UInt8]) throws -> Void) {
    testDescription = description
    self.read = read
  }

  /// Markup to repeat.
  public static let markupUnits = [
    "<", "<!", "<!--", "<!-- -", "-->", "<a", "<a ", "<a b", "<a b=", "<a b=\"", "<a b='", "<a b=\">", "<a \"",
    "<a =\"x'",
    "</", "</a", "<a>", "<a/>", "<b><i>", "<table><tr><td>", "<pre>", "<style>", "<style></", "<script>", "<textarea>",
    "<textarea></textarea", "<title>", "<plaintext>", "<svg>", "<p><!--", "<p style=\"url(", "<img src=cid:a>",
    "<a href=\"http://a/b/../c\">", "<img srcset=\",,,\">", "<img srcset=\"a 1x, ", "&", "&amp", "&amp;", "&#", "&#x",
    "&#1", "&#x41;", "<li>", "\n", " ", "\t", "\u{a0}", "\"", "'", ">", "=", "url(", "url(\"", "@import", "@import \"",
    "@import url(", "/*", "/* *", "\\", "\\0", "{", "}", "(", "[", "cid:", "cid:a ", "<nl>", "<param>", "<<", " \n",
    "> \n",
    ">", "-- \n", "x \n", "<?", "<![CDATA[", "<a b=\"c\" ", "<a b=c ", "a:b;", "expression(", "-", "--", "\0",
  ]

  /// Checks that four times as much of a repeated unit, after `start`, takes four times as long, and not sixteen.
  public func check(_ start: String, _ unit: String) throws {
    var size = 16 << 10
    while true {
      let (small, large) = (try time(start, unit, size), try time(start, unit, 4 * size))
      // In nanoseconds: shorter ones say nothing, and linear ones need not be long.
      if large > 20_000_000 {
        // Text of several chunks is made twice: a single step between two sizes is not more than linear.
        if Self.isSuperlinear(small, large), Self.isSuperlinear(large, try time(start, unit, 16 * size)) {
          let input = "\(testDescription): \(start.debugDescription) + \(unit.debugDescription)"
          Issue.record("\(input): \(small) ns for \(size) bytes, \(large) for 4 times as many")
        }
        if large > 150_000_000 { return }
      }
      size *= 4
      if size > 1 << 20 { return }
    }
  }

  /// Compares the times of a size and of four times that size.
  private static func isSuperlinear(_ small: UInt64, _ large: UInt64) -> Bool {
    Double(large) > 9 * Double(max(small, 1))
  }

  private func time(_ start: String, _ unit: String, _ size: Int) throws -> UInt64 {
    let unit = Array(unit.utf8)
    var bytes = Array(start.utf8)
    bytes.reserveCapacity(size)
    while bytes.count < size { bytes += unit }
    let before = Self.now
    try read(bytes)
    return Self.now - before
  }

  private static var now: UInt64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}
