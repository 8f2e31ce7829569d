internal import Catalogue
public import Pixels
public import WorkerKit

/// Makes a PDF smaller: keeps its text, drawings, links, outline and forms, and reduces its images to a resolution and
/// quality.
public struct CompressedDocument {
  private let input: JobInput
  private let passwords: [[UInt8]]
  private let resolution: Int
  private let quality: Int
  private let library: any ImageLibrary

  /// - Parameters:
  ///   - passwords: candidates for opening the document.
  ///   - resolution: in pixels per inch; images with about that many or fewer keep theirs.
  ///   - quality: the JPEG quality, 1 to 100.
  public init(
    _ input: JobInput, _ passwords: [[UInt8]], resolution: Int, quality: Int, _ library: any ImageLibrary
  ) {
    self.input = input
    self.passwords = passwords
    self.resolution = resolution
    self.quality = quality
    self.library = library
  }

  /// The libdeflate compression level, at most 12. Higher levels take several times as long and save one percent.
  private static let level: Int32 = 9

  /// Writes the smaller document, or the input unchanged.
  ///
  /// - Returns: The reason why the input is unchanged, as the end of a sentence that starts with the file's name. Nil
  ///   if it was made smaller.
  public func write(to output: JobOutput) throws(JobFailure) -> String? {
    guard let reason = try reasonToKeep(writing: output) else { return nil }
    try output.restart()
    try unsafe output.write(input.bytes.bytes)
    return reason
  }

  private func reasonToKeep(writing output: JobOutput) throws(JobFailure) -> String? {
    let file = try PDFFile(reading: input, passwords)
    let damage = "is not changed: it is damaged, and programs may display it differently"
    if file.hidesFiles { return "is not changed: its attached files require a password" }
    if file.isDamaged || file.isRecovered { return damage }
    if file.isEncrypted, !file.allowsAll { return "is not changed: its owner forbids that" }
    guard let deflate = Deflate(level: Self.level) else { throw JobFailure.noMemory() }
    var tree = PageTree(file, ObjectCache(of: file))
    if !tree.hasPages { return damage }
    let placements = try ImagePlacements(on: &tree, of: file)
    let images = ImageRecoder(resolution: resolution, quality: quality, deflate: deflate, library: library)
    let coder = StreamCoder(deflate: deflate, images: images, placements: placements)
    var copy = try CompressedCopy(of: file, coder, to: output)
    try copy.write()
    if copy.isSigned { return "is not changed: it is signed, and the signature is for these bytes" }
    if file.isDamaged { return damage }
    if try output.size() >= input.count { return "is not changed: it would not become smaller" }
    return nil
  }
}
