internal import CFFmpeg
internal import WorkerKit

/// The end of a track of an ISO base media file whose edit list is rounded (ISO/IEC 14496-12, 8.6.6).
///
/// An edit list counts in the clock of the whole file, which most programs set to milliseconds. FFmpeg cuts the last packet
/// there, or lets it last longer. The track records its own length in its own clock.
struct RoundedEdit {
  /// The time at which FFmpeg ends the track, and the one at which it ends, in units of its clock.
  private let cut: Int64
  private let end: Int64
  /// The length of the pause before the track.
  private let start: Int64

  /// The maximum size of the description of all tracks, in bytes.
  private static let mostBytes = 64 << 20
  /// The maximum of a time, in units of any clock.
  private static let longest: UInt64 = 1 << 48

  /// The maximum number of samples in a packet. FFmpeg does not tell that of ALAC, which is usually this.
  var frame: Int64 = 4096

  /// Corrects the duration of the packet at the end of the track.
  func mend(_ packet: MediaPacket) {
    guard let time = packet.time, time < end else { return }
    let length = unsafe packet.pointer.pointee.duration
    let excess = time &+ length &- cut
    // FFmpeg may round otherwise than here, by one for each time. It does not count a short pause before the track.
    let isAtCut = abs(excess) <= 1 || start > 0 && abs(excess &+ start) <= 2 && end - time <= frame
    guard length > 0, isAtCut else { return }
    unsafe packet.pointer.pointee.duration = end - time
  }

  /// Returns the rounded edits in a file, by the IDs of their tracks. Malformed ones are left out.
  static func all(in input: JobInput) -> [Int: RoundedEdit] {
    guard let movie = movie(in: input).map({ BoxReader($0) }), let header = movie.body("mvhd") else { return [:] }
    let clock = time(in: header).clock
    var edits: [Int: RoundedEdit] = [:]
    for (name, track) in movie.boxes where name == "trak" {
      let boxes = BoxReader(track)
      guard let header = boxes.body("tkhd"), let media = boxes.body("mdia", "mdhd"),
        let list = boxes.body("edts", "elst")
      else { continue }
      // The ID stands where other headers have the clock.
      edits[Int(time(in: header).clock)] = RoundedEdit(time(in: media), list, clock)
    }
    return edits
  }

  /// - Parameters:
  ///   - media: the clock of the track, in units per second, and its length.
  ///   - list: the edit list, with one edit after at most one pause.
  ///   - clock: the clock of the list.
  private init?(_ media: (clock: UInt64, length: UInt64), _ list: ArraySlice<UInt8>, _ clock: UInt64) {
    guard media.clock > clock, clock > 0, media.length < Self.longest else { return nil }
    var reader = BoxReader(list)
    let width = reader.number(4) >> 24 == 1 ? 8 : 4
    let count = reader.number(4)
    guard count == 1 || count == 2 else { return nil }
    var edits: [(length: UInt64, start: UInt64)] = []
    for _ in 0..<count {
      edits.append((reader.number(width), reader.number(width)))
      reader.skip(4)
    }
    let ofPause: UInt64 = width == 8 ? .max : 0xffff_ffff
    let pause = count == 2 ? edits.removeFirst() : (length: 0, start: ofPause)
    guard let edit = edits.first, pause.start == ofPause, edit.start <= media.length,
      max(edit.length, pause.length) < Self.longest
    else { return nil }
    func rescaled(_ time: UInt64) -> Int64 { av_rescale(Int64(time), Int64(media.clock), Int64(clock)) }
    let start = rescaled(pause.length)
    cut = start &+ rescaled(edit.length)
    end = start &+ Int64(media.length - edit.start)
    // A difference of more than a unit of the list is wanted.
    guard cut != end || start > 0, abs(end &- cut) <= Int64(media.clock / clock) + 1 else { return nil }
    self.start = start
  }

  /// Returns the body of the box that describes the tracks. Returns `nil` if there is none, or if it is too large.
  private static func movie(in input: JobInput) -> ArraySlice<UInt8>? {
    var place = 0
    while place <= input.count - 16 {
      var reader = unsafe BoxReader(Array(input.bytes[place..<place + 16])[...])
      let (short, name) = (reader.number(4), reader.number(4))
      let (size, head) = short == 1 ? (reader.number(8), 16) : (short, 8)
      let room = input.count - place
      let count = short == 0 ? room : Int(clamping: size)
      guard count >= head, count <= room else { return nil }
      if name == 0x6d6f_6f76 {  // moov
        return count > mostBytes ? nil : unsafe Array(input.bytes[place + head..<place + count])[...]
      }
      place += count
    }
    return nil
  }

  /// Returns the clock and the length in a header of a track or a file, which follow two dates.
  private static func time(in header: ArraySlice<UInt8>) -> (clock: UInt64, length: UInt64) {
    var reader = BoxReader(header)
    let width = reader.number(4) >> 24 == 1 ? 8 : 4
    reader.skip(2 * width)
    return (reader.number(4), reader.number(width))
  }
}
