internal import Catalogue
internal import Media
internal import SandboxTrial
internal import WorkerKit

/// The worker program for sound and films.
@main
enum FFMedia {
  static func main() {
    SandboxTrial.runIfAsked(makeHandlers)
    WorkerRuntime.run("ffmedia", largestFile: Job.largestOutput, makeHandlers)
  }

  /// Loads everything that cannot be loaded once the sandbox is closed.
  static func makeHandlers() -> [any JobHandler] {
    MediaLibrary.start()
    return [
      SoundHandler(), WaveformHandler(), FilmHandler(), StillHandler(), TracksHandler(), SegmentHandler(), CutHandler(),
      SheetHandler(), JoinHandler(), SubtitleHandler(), TagsHandler(),
    ]
  }
}
