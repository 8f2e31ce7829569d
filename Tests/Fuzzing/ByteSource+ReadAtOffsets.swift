internal import Bytes
internal import TestSupport

extension ByteSource {
  /// Reads front to back and at some offsets. Returns the bytes, `nil` if they cannot be read, and what is inconsistent.
  func readAtOffsets(_ name: String) -> (bytes: [UInt8]?, complaints: [String]) {
    guard let whole = try? readThrough(step: 50_000) else { return (nil, ["\(name) cannot be read"]) }
    var complaints: [String] = []
    if Int64(whole.count) != size { complaints.append("\(name) has \(whole.count) bytes of \(size)") }
    for place in [0, 1, whole.count / 3, whole.count / 2, whole.count - 1] where (0..<whole.count).contains(place) {
      let part = try? partialBytes(at: Int64(place), count: 777)
      if !(part.map { areSame($0, whole[place..<min(whole.count, place + 777)]) } ?? false) {
        complaints.append("\(name), read at \(place), is not what it is read front to back")
      }
    }
    return (whole, complaints)
  }
}
