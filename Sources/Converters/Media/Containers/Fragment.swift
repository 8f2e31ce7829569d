/// The track that determines the times of a video file's fragments: the video track, or the first one.
struct FragmentTrack {
  let number: UInt64
  /// The number of time units per second.
  let timeScale: UInt64

  /// Reads the body of a box `moov`. Returns `nil` if it has no valid track.
  init?(of body: ArraySlice<UInt8>) {
    let tracks = BoxReader(body).boxes.filter { $0.name == "trak" }.map(\.body)
    let film = tracks.first { track in
      guard let handler = BoxReader(track).body("mdia", "hdlr") else { return false }
      return handler.dropFirst(8).prefix(4).elementsEqual("vide".utf8)
    }
    guard let track = film ?? tracks.first, let head = BoxReader(track).body("tkhd"),
      let media = BoxReader(track).body("mdia", "mdhd")
    else { return nil }
    func second(_ box: ArraySlice<UInt8>) -> UInt64 {
      var reader = BoxReader(box)
      // Two times precede the number. Their width depends on the version.
      let isWide = reader.number(1) == 1
      reader.skip(3 + (isWide ? 16 : 8))
      return reader.number(4)
    }
    (number, timeScale) = (second(head), second(media))
    if number == 0 || timeScale == 0 { return nil }
  }
}

/// The part of a fragment that belongs to a track.
struct Fragment {
  /// The start and end time, in units of the track.
  let time: Int64
  let end: Int64
  /// Whether the first sample is a key frame.
  let standsAlone: Bool

  /// Reads the body of a box `moof`. Returns `nil` if it has nothing of the track.
  init?(of track: FragmentTrack, _ body: ArraySlice<UInt8>) {
    for (name, part) in BoxReader(body).boxes where name == "traf" {
      let boxes = BoxReader(part)
      guard let head = boxes.body("tfhd"), let start = boxes.body("tfdt") else { continue }
      var reader = BoxReader(head)
      let given = reader.number(4)
      guard reader.number(4) == track.number else { continue }
      if given & 1 != 0 { reader.skip(8) }
      _ = reader.number(if: given, 2)
      let usualDuration = reader.number(if: given, 8) ?? 0
      _ = reader.number(if: given, 0x10)
      let usualFlags = reader.number(if: given, 0x20) ?? 0
      var times = BoxReader(start)
      let isWide = times.number(4) >> 24 == 1
      time = Int64(clamping: times.number(isWide ? 8 : 4))
      var sum: UInt64 = 0
      var first: UInt64?
      for (name, run) in boxes.boxes where name == "trun" {
        sum &+= Self.duration(of: BoxReader(run), usualDuration, usualFlags, &first)
      }
      end = time.addingReportingOverflow(Int64(clamping: sum)).partialValue
      standsAlone = (first ?? usualFlags) & 0x1_0000 == 0
      return
    }
    return nil
  }

  private static func duration(
    of run: BoxReader, _ usualDuration: UInt64, _ usualFlags: UInt64, _ first: inout UInt64?
  ) -> UInt64 {
    var reader = run
    let given = reader.number(4)
    let count = reader.number(4)
    _ = reader.number(if: given, 1)
    let firstFlags = reader.number(if: given, 4)
    if given & 0xf00 == 0 {
      first = first ?? firstFlags ?? usualFlags
      return count &* usualDuration
    }
    var sum: UInt64 = 0
    for _ in 0..<min(count, 1 << 20) {
      sum &+= reader.number(if: given, 0x100) ?? usualDuration
      _ = reader.number(if: given, 0x200)
      let flags = reader.number(if: given, 0x400)
      _ = reader.number(if: given, 0x800)
      first = first ?? firstFlags ?? flags ?? usualFlags
    }
    return sum
  }
}
