import Bytes
import TestSupport
import Testing

@testable import HTML

/// Whether HTML is read in linear time.
@Suite(.serialized, .enabled(if: TestExtent.isFull, "takes minutes")) struct HTMLScalingTests {
  private static let links = ContentLinks(
    names: [Array("a".utf8): "a"], locations: [Array("http://a/b".utf8): "b"], base: Array("http://a/".utf8))

  static let readers = [
    LinearTimeReader("text of HTML") { _ = HTMLText.text(of: $0) },
    LinearTimeReader("safe HTML") { bytes in
      var state = SafeHTML.State()
      _ = SafeHTML.made(bytes, isLast: true, links, &state)
    },
    LinearTimeReader("safe page") { bytes in
      _ = try SafePage([SafePage.Piece(text: ByteArraySource(bytes), links: links)], chunkSize: 64 << 10)
    },
    LinearTimeReader("style") { _ = SafeStyle.made($0, links) },
    LinearTimeReader("links") { _ = links.resolved($0) },
  ]

  @Test(arguments: readers) func markupTakesLinearTime(_ reader: LinearTimeReader) throws {
    for unit in LinearTimeReader.markupUnits { try reader.check("", unit) }
  }
}
