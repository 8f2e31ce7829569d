import Bytes
import ServerAnswers
import Testing

struct SFTPMessageTests {
  private func string(_ text: String) -> [UInt8] { [UInt8](bigEndian: UInt32(text.utf8.count)) + text.utf8 }

  /// With a size, owners, a mode, times, and an extension.
  private var attributes: [UInt8] {
    [0x80, 0, 0, 0x0f, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0x81, 0xa4, 0, 0, 0, 9, 0, 0, 0, 10]
      + [0, 0, 0, 1] + string("a") + string("b")
  }

  @Test func namesAreRead() throws {
    let packet = [104, 0, 0, 0, 7, 0, 0, 0, 1] + string("x") + string("-rw- x") + attributes
    let (id, response) = try SFTPMessage.response(packet[...])
    guard case .names(let names) = response, let (name, found) = names.first else {
      Issue.record("not names")
      return
    }
    #expect(id == 7 && name == Array("x".utf8))
    #expect(found == .init(size: 1 << 32 | 2, mode: 0o100644, modified: 10))
    #expect(found.kind == .file && found.tag == "\"4294967298-10\"")
  }

  @Test func everyPartOfAPacketIsRefused() throws {
    let packets: [[UInt8]] = [
      [104, 0, 0, 0, 7, 0, 0, 0, 1] + string("x") + string("") + attributes,
      [101, 0, 0, 0, 1, 0, 0, 0], [102, 0, 0, 0, 1] + string("handle"), [103, 0, 0, 0, 1] + string("data"),
      [105, 0, 0, 0, 1] + attributes, [2, 0, 0, 0, 3],
    ]
    for packet in packets {
      for count in 0..<packet.count { #expect(throws: Fault.self) { try SFTPMessage.response(packet[..<count]) } }
    }
  }

  @Test(
    arguments: [
      [104, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff], [103, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 1],
      [105, 0, 0, 0, 1, 0x80, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], [99, 0, 0, 0, 1],
    ] as [[UInt8]])
  func wrongCountsAreRefused(packet: [UInt8]) {
    #expect(throws: Fault.self) { try SFTPMessage.response(packet[...]) }
  }

  @Test func sizesAreBounded() throws {
    let packet: [UInt8] = [105, 0, 0, 0, 1, 0, 0, 0, 1] + [UInt8](repeating: 0xff, count: 8)
    guard case .attributes(let found) = try SFTPMessage.response(packet[...]).response else {
      Issue.record("not attributes")
      return
    }
    #expect(found.size == Bounds.largestSize)
  }

  @Test func statusNeedsNoMessage() throws {
    guard case .status(2, "") = try SFTPMessage.response([101, 0, 0, 0, 1, 0, 0, 0, 2][...]).response else {
      Issue.record("not a status")
      return
    }
  }

  @Test func requestsHaveTheirLengths() {
    let packet = SFTPMessage.request(.open, id: 5, [Array("/a".utf8)], rest: [0, 0, 0, 1, 0, 0, 0, 0])
    #expect(packet == [0, 0, 0, 19, 3, 0, 0, 0, 5, 0, 0, 0, 2, 0x2f, 0x61, 0, 0, 0, 1, 0, 0, 0, 0])
  }
}
