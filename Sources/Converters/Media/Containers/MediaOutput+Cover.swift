internal import CFFmpeg
internal import WorkerKit

/// The cover of an audio or video file.
extension MediaOutput {
  /// Adds a stream for a cover. Returns its index.
  func addCover(_ cover: MediaStream, of input: MediaInput) throws(JobFailure) -> Int {
    let original = try unsafe input.stream(cover.index)
    let stream = try unsafe addStream(original.pointee.codecpar, timeBase: cover.timeBase, tags: cover.tags)
    unsafe stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
    return Int(unsafe stream.pointee.index)
  }

  /// Writes the cover's picture. To be called before all other packets are written.
  func writeCover(_ cover: MediaStream, of input: MediaInput, to place: Int) throws(JobFailure) {
    let original = try unsafe input.stream(cover.index)
    let packet = try MediaPacket()
    try unsafe checked(av_packet_ref(packet.pointer, &original.pointee.attached_pic), "has a cover that is damaged")
    unsafe packet.pointer.pointee.pts = 0
    unsafe packet.pointer.pointee.dts = 0
    try write(packet, to: place, timeBase: cover.timeBase)
  }
}

extension MediaInput {
  /// The first cover in a format that all programs show.
  var cover: MediaStream? {
    streams.first { stream in
      stream.kind == .cover && ["mjpeg", "png"].contains(stream.codecName) && coverSize(stream) <= Self.largestCover
    }
  }

  private static let largestCover = 16 << 20

  private func coverSize(_ stream: MediaStream) -> Int {
    guard let stream = unsafe try? self.stream(stream.index) else { return 0 }
    return Int(unsafe stream.pointee.attached_pic.size)
  }

  /// Returns a cover's bytes as the file stores them.
  func coverBytes(_ cover: MediaStream) throws(JobFailure) -> [UInt8] {
    let picture = try unsafe stream(cover.index).pointee.attached_pic
    return unsafe Array(UnsafeBufferPointer(start: picture.data, count: max(0, Int(picture.size))))
  }
}
