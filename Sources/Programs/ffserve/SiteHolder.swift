import Locks

/// Holds the site for connections, because it is created once the port is known.
final class SiteHolder: Sendable {
  private let held = UnfairLock<Site?>(nil)

  var site: Site? {
    get { held.withLock { $0 } }
    set { held.withLock { $0 = newValue } }
  }
}
