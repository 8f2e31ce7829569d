internal import Conversion
public import JobFiles
public import Pixels

/// A PDF made smaller: the same text, drawings, links, outline and forms, its images at a resolution and quality.
public struct CompressedDocument {
  private let input: JobInput
  private let resolution: Int
  private let quality: Int
  private let library: any ImageLibrary

  /// - Parameters:
  ///   - resolution: in pixels an inch; images that have about as many or fewer keep them.
  ///   - quality: JPEG's, 1 to 100.
  public init(_ input: JobInput, resolution: Int, quality: Int, _ library: any ImageLibrary) {
    self.input = input
    self.resolution = resolution
    self.quality = quality
    self.library = library
  }

  /// libdeflate's, of 12: what is above takes several times as long for a hundredth less.
  private static let level: Int32 = 9

  /// Writes the smaller document, or the input's own bytes.
  ///
  /// - Returns: why it is the input's bytes, the end of a sentence that starts with the file's name; nil when it is not.
  public func write(to output: JobOutput) throws(JobFailure) -> String? {
    var reason: String?
    do throws(JobFailure) { reason = try reasonToKeep(writing: output) } catch {
      // What one reader cannot open another may: a copy is as good as the file.
      guard input.isPDF, [.damaged, .locked, .unsupported].contains(error.failure) else { throw error }
      reason = "is not changed: it \(error.reason)"
    }
    guard let reason else { return nil }
    try output.restart()
    try unsafe output.write(input.bytes.bytes)
    return reason
  }

  private func reasonToKeep(writing output: JobOutput) throws(JobFailure) -> String? {
    let file = try PDFFile(reading: input)
    let damage = "is not changed: it is damaged, and readers may not agree on what it shows"
    if file.isDamaged { return damage }
    if file.isEncrypted, !file.allowsAll { return "is not changed: its owner forbids that" }
    guard let deflate = Deflate(level: Self.level) else { throw JobFailure.noMemory() }
    var tree = PageTree(file, ObjectCache(of: file))
    let placements = try ImagePlacements(on: &tree, of: file)
    let images = ImageRecoder(resolution: resolution, quality: quality, deflate: deflate, library: library)
    let coder = StreamCoder(deflate: deflate, images: images, placements: placements)
    var copy = CompressedCopy(of: file, coder, to: output)
    try copy.write()
    if copy.isSigned { return "is not changed: it is signed, and the signature is for these bytes" }
    if file.isDamaged { return damage }
    if try output.size() >= input.count { return "is not changed: it would not become smaller" }
    return nil
  }
}
