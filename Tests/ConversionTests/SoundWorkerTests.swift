import Foundation
import TestSupport
import Testing

private let hasPrograms = ["ffmpeg", "ffprobe", "mediainfo", "sox"].allSatisfy { MountScratch.has($0) }

/// Runs ffmedia as a subprocess on sounds that other programs make.
@Suite(.serialized, .enabled(if: hasPrograms, "needs ffmpeg, mediainfo and sox"))
struct SoundWorkerTests {
  private static let program =
    URL(fileURLWithPath: MountProcess.binary).deletingLastPathComponent().appendingPathComponent("ffmedia").path

  private static func script(_ name: String, _ words: [String]) async throws -> String {
    let path = MountScratch.package + "/Tests/Scripts/" + name
    let child = try MountChild([MountScratch.python, path, program] + words)
    let result = try await child.wait(atMost: TestExtent.isFull ? 5400 : 400)
    #expect(result.status == 0, "\(result.text)\n\(result.errors)")
    return result.text
  }

  @Test func soundsKeepLengthLevelAndTagsInEveryFormat() async throws {
    print(try await Self.script("check_sounds.py", TestExtent.isFull ? ["all"] : []))
  }

  /// No sound loses its end, whatever clock its container has: each coding and each container once. `scripts/check lengths`
  /// has those that once were wrong, too, and `all`.
  @Test func soundLengthsMatchFFmpeg() async throws {
    print(try await Self.script("check_lengths.py", [TestExtent.isFull ? "all" : "few"]))
  }

  @Test func malformedSoundsFailOnlyTheirOwnJob() async throws {
    print(try await Self.script("hostile_sounds.py", [TestExtent.isFull ? "4000" : "100"]))
  }
}
