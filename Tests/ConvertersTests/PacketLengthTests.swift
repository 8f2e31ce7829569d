import Testing

@testable import Media

/// The numbers of samples that packets tell.
@Suite struct PacketLengthTests {
  private func packet(_ bytes: [UInt8]) throws -> MediaPacket {
    let packet = try MediaPacket()
    try packet.fill(with: bytes)
    return packet
  }

  @Test(
    arguments: [
      (0, nil), (1, 192), (2, 576), (3, 1152), (4, 2304), (5, 4608), (6, 18), (7, 0x1113), (8, 256), (9, 512),
      (10, 1024), (11, 2048),
      (12, 4096), (13, 8192), (14, 16384), (15, 32768),
    ] as [(UInt8, Int64?)])
  func framesOfFLACTellTheirLength(_ code: UInt8, _ length: Int64?) throws {
    // The frame's number, in one to seven bytes, precedes the length.
    for number in [
      [0x05], [0xc2, 0x80], [0xe0, 0xa0, 0x80], [0xf0, 0x90, 0x80, 0x80], [0xfe, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
    ] as [[UInt8]] {
      let head: [UInt8] = [0xff, 0xf8, code << 4 | 9, 0x18] + number + [0x11, 0x12]
      let frame = head + [UInt8](repeating: 0, count: 20 - head.count)
      #expect(try packet(frame).flacLength == length, "\(number)")
      for (index, mask) in [(0, 1), (1, 0x80)] as [(Int, UInt8)] {
        var odd = frame
        odd[index] ^= mask
        #expect(try packet(odd).flacLength == nil)
      }
      #expect(try packet(Array(frame.prefix(15))).flacLength == nil && packet([]).flacLength == nil)
    }
  }

  @Test func packetsOfOpusTellTheirLength() throws {
    let frames: [Int64] =
      [480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 480, 960]
      + Array([120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960])
    for (configuration, frame) in frames.enumerated() {
      for (code, count) in [(0, 1), (1, 2), (2, 2), (3, 5)] as [(UInt8, Int64)] {
        #expect(
          try packet([UInt8(configuration) << 3 | 4 | code, 0xc5]).opusLength == count * frame, "\(configuration)")
      }
      #expect(try packet([UInt8(configuration) << 3 | 3]).opusLength == nil)
    }
    #expect(try packet([]).opusLength == nil)
  }

  @Test func framesOfMPEGAreRecognized() throws {
    #expect(try packet([0xff, 0xfb, 0x90, 0x00]).isMPEGFrame && packet([0xff, 0xf3, 0x10, 0x00, 1]).isMPEGFrame)
    for odd in [
      [0xff, 0xfb, 0x90], [0xfe, 0xfb, 0x90, 0], [0xff, 0xdb, 0x90, 0], [0xff, 0xeb, 0x90, 0], [0xff, 0xf9, 0x90, 0],
      [0xff, 0xfb, 0x00, 0], [0xff, 0xfb, 0xf0, 0], [0xff, 0xfb, 0x9c, 0], [],
    ] as [[UInt8]] {
      #expect(try !packet(odd).isMPEGFrame, "\(odd)")
    }
  }

  @Test(arguments: [
    (0, 1), (0.01, 1), (1, 1), (1.01, 2), (2.5, 3), (3599.999, 3600), (1e6, 1_000_000), (1e12, 1_000_000), (-5, 1),
  ]) func filmsHaveAStillForEachSecondThatBegins(_ length: Double, _ count: Int64) {
    #expect(StillHandler.count(in: length) == count)
  }

  @Test func chaptersBecomeACueSheet() {
    func chapter(_ start: Double, _ title: String?) -> MediaChapter {
      var tags = MediaTags()
      if let title { tags.set("title", title) }
      return MediaChapter(start: start, end: start + 1, tags: tags)
    }
    let sheet = [
      chapter(0, "One"), chapter(61.5, "Two\nlines\r\nof\u{2028}it"), chapter(3600.01, nil), chapter(-1, "before"),
      chapter(1e7, "late"),
      chapter(.nan, "never"), chapter(5999.999, "end"),
    ].cueSheet
    #expect(
      sheet == """
        FILE "" WAVE
        TRACK 1 AUDIO
        TITLE "One"
        INDEX 01 0:0:0
        TRACK 2 AUDIO
        TITLE "Two lines of it"
        INDEX 01 1:1:38
        TRACK 3 AUDIO
        INDEX 01 60:0:1
        TRACK 7 AUDIO
        TITLE "end"
        INDEX 01 100:0:0

        """)
    #expect([MediaChapter]().cueSheet.isEmpty)
  }
}
