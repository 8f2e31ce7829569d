internal import CFFmpeg
internal import WorkerKit

/// A cover as a file that is attached to a video.
final class AttachedPicture: MadeTrack {
  let source: Int
  private let stream: MediaStream
  private let input: MediaInput

  init(_ stream: MediaStream, of input: MediaInput) {
    self.stream = stream
    self.input = input
    source = stream.index
  }

  func declare(in output: MediaOutput) throws(JobFailure) {
    let original = try unsafe input.stream(stream.index)
    guard let bytes = unsafe original.pointee.attached_pic.data else { return }
    let count = Int(unsafe original.pointee.attached_pic.size)
    let made = try unsafe output.addStream(original.pointee.codecpar, timeBase: stream.timeBase, tags: tags)
    let parameters = unsafe made.pointee.codecpar
    guard let parameters = unsafe parameters,
      let copy = unsafe av_mallocz(count + Int(AV_INPUT_BUFFER_PADDING_SIZE))?.assumingMemoryBound(to: UInt8.self)
    else { throw .noMemory() }
    unsafe copy.update(from: bytes, count: count)
    unsafe av_freep(&parameters.pointee.extradata)
    unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
    unsafe parameters.pointee.extradata = copy
    unsafe parameters.pointee.extradata_size = Int32(count)
  }

  private var tags: MediaTags {
    var tags = MediaTags()
    let isPNG = stream.codec == AV_CODEC_ID_PNG
    tags.set("filename", isPNG ? "cover.png" : "cover.jpg")
    tags.set("mimetype", isPNG ? "image/png" : "image/jpeg")
    return tags
  }

  func take(_ packet: MediaPacket?, _ output: MediaOutput) throws(JobFailure) {}
}
