import Bytes
import ServerAnswers
import Synchronization

/// A listing of a directory's entries by the server.
final class Snapshot: Sendable {
  let items: [ServerItem]
  /// The entity tag. Nil if the server sends none.
  let tag: String?
  private let places: [FileName: Int32]
  /// The time until which the listing is valid, in nanoseconds.
  private let until: Atomic<UInt64>
  /// The duration of the last request, in nanoseconds.
  private let latest: Atomic<UInt64>
  /// The time at which the last request began, in nanoseconds. 0 if the listing is outdated.
  private let begun = Atomic<UInt64>(0)

  /// The minimum validity, in nanoseconds.
  private let lifetime: UInt64

  /// The maximum validity, in nanoseconds. A listing is valid for as long as its request took.
  private let longest: UInt64

  /// - Parameter took: the duration of the request, in nanoseconds.
  init(_ items: [ServerItem], tag: String?, took: UInt64, lifetime: UInt64, longest: UInt64) {
    var places: [FileName: Int32] = [:]
    places.reserveCapacity(items.count)
    var kept: [ServerItem] = []
    kept.reserveCapacity(items.count)
    // A name that is listed again is not another entry. A folder hides an object of S3 that has its name.
    for item in items {
      if let place = places[item.name] {
        if item.kind == .folder { kept[Int(place)] = item }
        continue
      }
      places[item.name] = Int32(kept.count)
      kept.append(item)
    }
    (self.items, self.places, self.tag, self.lifetime, self.longest) = (kept, places, tag, lifetime, longest)
    until = Atomic(0)
    latest = Atomic(took)
    _ = confirmed(after: took)
  }

  /// Extends the validity of this listing, which the server has just confirmed. Returns it.
  func confirmed(after took: UInt64) -> Snapshot {
    let now = HTTPClient.now
    latest.store(took, ordering: .relaxed)
    begun.store(now - took, ordering: .relaxed)
    until.store(now + max(lifetime, min(took, longest)), ordering: .relaxed)
    return self
  }

  /// The duration of the last request, in nanoseconds.
  var took: UInt64 { latest.load(ordering: .relaxed) }

  func expire() {
    until.store(0, ordering: .relaxed)
    begun.store(0, ordering: .relaxed)
  }

  /// The time of the last request, in nanoseconds. 0 for a listing that has expired.
  var asked: UInt64 { begun.load(ordering: .relaxed) }

  var isFresh: Bool { HTTPClient.now < until.load(ordering: .relaxed) }

  /// Returns whether the listing is that of a folder that has not changed since, as far as the server reports.
  func isCurrent(_ path: [UInt8], _ folders: LiveFolders?) -> Bool {
    folders?.isCurrent(path, since: begun.load(ordering: .relaxed)) ?? false
  }

  /// Returns the position of a name. O(1).
  func place(of name: FileName) -> Int? { places[name].map(Int.init) }

  /// The item of a name. O(1).
  subscript(name: FileName) -> ServerItem? { place(of: name).map { items[$0] } }

  /// The approximate size, in bytes.
  var cost: Int { 1024 + items.reduce(0) { $0 + 200 + $1.name.count } }
}
