/// The samples of an audio stream that could not be decoded.
struct SoundLoss {
  /// The number of samples in each channel that are silent instead.
  private(set) var count: Int64 = 0
  /// The number of the first lost sample.
  private var first: Int64 = 0

  mutating func note(_ places: Range<Int64>) {
    if count == 0 { first = places.lowerBound }
    count += Int64(places.count)
  }

  /// Returns a remark, as the end of a sentence. Empty if nothing is lost.
  func remark(rate: Int) -> String {
    count == 0
      ? "" : "is silent for \(Self.seconds(count, rate)) s from \(Self.seconds(first, rate)) s on, where it is damaged"
  }

  /// Returns a number of seconds, rounded up to hundredths so that no loss appears as 0.
  static func seconds(_ count: Int64, _ rate: Int) -> String {
    let hundredths = Int64(min(1e15, (Double(count) * 100 / Double(max(1, rate))).rounded(.up)))
    let rest = hundredths % 100
    return rest == 0 ? "\(hundredths / 100)" : "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest)"
  }
}
