internal import Catalogue
internal import WorkerKit

/// A file of limited size. It has the highest quality that fits, and fewer pixels if no quality fits.
struct BoundedFile {
  /// A picture from which files of different qualities and sizes can be made.
  protocol Subject {
    var hasQuality: Bool { get }
    /// The requested quality. Nil if none was requested.
    var mostQuality: Int? { get }

    /// Returns a copy with its pixels in memory, to be read several times.
    func inMemory() throws(JobFailure) -> Self

    /// Returns a file. Returns `nil` if no pixels would be left. `scale` applies to the sides and is at most 1.
    func bytes(scaledBy scale: Double, quality: Int?) throws(JobFailure) -> [UInt8]?
  }

  private let subject: any Subject
  private let limit: Int

  /// The minimum quality. Below it, fewer pixels are preferable.
  private static let leastQuality = 10
  /// The maximum quality by default. A higher one is not distinguishable from the original.
  private static let usualQuality = 95
  private static let mostSteps = 16
  private static let refinements = 5

  init(_ subject: some Subject, bytes limit: Int) throws(JobFailure) {
    self.subject = try subject.inMemory()
    self.limit = limit
  }

  /// Returns the file. Makes about forty files at most.
  func bytes() throws(JobFailure) -> [UInt8] {
    guard subject.hasQuality else { return try shrunk(quality: nil).file }
    let most = subject.mostQuality ?? BoundedFile.usualQuality
    let least = min(most, BoundedFile.leastQuality)
    if let best = try best(at: 1, least, most) { return best }
    let small = try shrunk(quality: least)
    return try best(at: small.scale, least, most) ?? small.file
  }

  /// Returns the file of the highest quality that fits. Returns `nil` if the lowest one does not fit.
  private func best(at scale: Double, _ least: Int, _ most: Int) throws(JobFailure) -> [UInt8]? {
    if let file = try fitting(scale, most) { return file }
    guard least < most, var best = try fitting(scale, least) else { return nil }
    var (least, most) = (least, most)
    // The lowest quality fits; the highest does not.
    while most - least > 1 {
      let middle = (least + most) / 2
      if let file = try fitting(scale, middle) { (best, least) = (file, middle) } else { most = middle }
    }
    return best
  }

  private func fitting(_ scale: Double, _ quality: Int?) throws(JobFailure) -> [UInt8]? {
    guard let file = try subject.bytes(scaledBy: scale, quality: quality), file.count <= limit else { return nil }
    return file
  }

  /// Returns a file with about as many pixels as fit.
  private func shrunk(quality: Int?) throws(JobFailure) -> (file: [UInt8], scale: Double) {
    // The scale of the last file that was too large, and of the one that was not.
    var (large, scale) = (1.0, 1.0)
    var found: [UInt8]?
    for _ in 0..<BoundedFile.mostSteps {
      guard let file = try subject.bytes(scaledBy: scale, quality: quality) else { break }
      if file.count <= limit {
        found = file
        break
      }
      large = scale
      scale *= min(0.95, max(0.25, 0.97 * (Double(limit) / Double(file.count)).squareRoot()))
    }
    guard var file = found else { throw JobFailure(.limit, "cannot be made as small as \(limit) bytes") }
    for _ in 0..<BoundedFile.refinements where scale < 0.98 * large {
      let middle = (scale + large) / 2
      if let larger = try fitting(middle, quality) { (file, scale) = (larger, middle) } else { large = middle }
    }
    return (file, scale)
  }
}
