import Bytes
import ServerAnswers
import Synchronization

/// A folder's entries as the server listed them.
final class Snapshot: Sendable {
  let items: [ServerItem]
  /// Names this state; nil if the server does not.
  let tag: String?
  private let places: [FileName: Int32]
  /// Until when it is relied on, in nanoseconds.
  private let until: Atomic<UInt64>
  /// How long the server took the last time, in nanoseconds.
  private let latest: Atomic<UInt64>

  /// What takes so long to list is relied on as long, up to so many nanoseconds.
  private static let longest: UInt64 = 5_000_000_000

  /// - Parameter took: how long the server took, in nanoseconds.
  init(_ items: [ServerItem], tag: String?, took: UInt64) {
    self.items = items
    self.tag = tag
    var places: [FileName: Int32] = [:]
    places.reserveCapacity(items.count)
    for (place, item) in items.enumerated() { places[item.name] = Int32(place) }
    self.places = places
    until = Atomic(0)
    latest = Atomic(took)
    _ = confirmed(after: took)
  }

  /// This, which the server has just said to be what it still has.
  func confirmed(after took: UInt64) -> Snapshot {
    latest.store(took, ordering: .relaxed)
    until.store(Wire.now + max(Server.lifetime, min(took, Self.longest)), ordering: .relaxed)
    return self
  }

  /// How long it takes to ask for it, in nanoseconds.
  var took: UInt64 { latest.load(ordering: .relaxed) }

  func expire() { until.store(0, ordering: .relaxed) }

  var isFresh: Bool { Wire.now < until.load(ordering: .relaxed) }

  /// Takes no longer than the number of bits of their count.
  subscript(name: FileName) -> ServerItem? { places[name].map { items[Int($0)] } }

  /// About, in bytes.
  var cost: Int { 1024 + items.reduce(0) { $0 + 200 + $1.name.count } }
}
