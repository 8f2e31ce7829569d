internal import CFFmpeg
public import Catalogue
public import WorkerKit

/// A handler that draws pictures of audio.
public struct WaveformHandler: JobHandler {
  public static let verbs = [Conversion.waveform.verb]

  public init() {}

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    guard let changes = recipe.arguments.flatMap({ WaveformChanges($0[...]) }) else { throw .unknown }
    var cut = SoundChanges()
    cut.span = changes.span
    let sound = try OpenSound(order.input(), track: changes.track)
    var shape = sound.facts.shape
    shape.format = AV_SAMPLE_FMT_FLT
    var loudness = Loudness()
    let progress = ProgressReport(output)
    let channels = shape.channels
    try SoundReader(sound.stream, of: sound.input, as: shape, cut).forEachFrame {
      (frame, share) throws(JobFailure) in
      guard let plane = unsafe frame.pointer.pointee.extended_data?.pointee else { return }
      let count = frame.sampleCount * channels
      unsafe plane.withMemoryRebound(to: Float.self, capacity: count) {
        unsafe loudness.add(UnsafeBufferPointer(start: $0, count: count))
      }
      progress.tell(share)
    }
    let picture = Waveform(loudness, width: changes.size.width, height: changes.size.height)
    try PNGPicture.write(picture.pixels, width: picture.width, height: picture.height, to: output)
    return sound.input.shortfall
  }
}
