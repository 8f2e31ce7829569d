import Bytes
import Glibc
import Locks
import ServerAnswers
import Text
import Threads

/// Listings of the server's directories.
extension RemoteServer {
  /// The maximum size of a listing, in bytes.
  private static let largestListing = 64 << 20

  /// Requests a directory's entries, unless they are those of `known`.
  func listing(of path: [UInt8], known: Snapshot?) -> SharedFetch<Snapshot> {
    let fetch = SharedFetch<Snapshot>(lifetime: interface.lifetime)
    let now = HTTPClient.now
    if let kept, kept.isOffline {
      help { [self] in
        let items = kept.listing(of: path)
        fetch.finish(items.map { .success(keep($0, of: path, tag: nil, took: 0)) } ?? .failure(absence))
      }
    } else if let walk, let page = walk.page(for: path) {
      self.walk(walk, to: path, page, since: now, fetch)
    } else {
      page(of: path, known: known, Pages(), after: nil, since: now, fetch)
    }
    return fetch
  }

  /// Requests a page of files at any depth, which has the entries of a directory and of those after it.
  private func walk(
    _ walk: FolderWalk, to path: [UInt8], _ page: FolderWalk.Page, since began: UInt64, _ fetch: SharedFetch<Snapshot>
  ) {
    let call = RepeatedRequest(self, walk.bucket.walk(page), limit: Self.largestListing) { [self] result in
      helpers.submit { [self] in
        do throws(Fault) {
          let answer = try result.get()
          guard answer.isSuccess else { throw fault(answer) }
          let page = try walk.bucket.walk(answer)
          let step = try walk.add(page.files, next: page.next, for: path)
          var listing: Snapshot?
          for folder in step.folders {
            let snapshot = keep(folder.items, of: folder.path, tag: nil, took: HTTPClient.now - began)
            if folder.path == path { listing = snapshot }
          }
          if let listing { return fetch.finish(.success(listing)) }
          if let next = step.next { return self.walk(walk, to: path, next, since: began, fetch) }
        } catch {
          // Some servers do not sort keys.
          walk.stop(forGood: error.kind == .damaged)
        }
        self.page(of: path, known: nil, Pages(), after: nil, since: began, fetch)
      }
    }
    fetch.whenAbandoned {
      call.cancel()
      walk.stop()
    }
    call.start()
  }

  /// Records the entries of a directory. Returns their listing.
  @discardableResult
  func keep(_ items: [ServerItem], of path: [UInt8], tag: String?, took: UInt64) -> Snapshot {
    let snapshot = Snapshot(
      items, tag: tag, took: took, lifetime: interface.lifetime, longest: interface.longestValidity)
    listings.insert(snapshot, for: path, cost: snapshot.cost)
    kept?.keep(items, of: path)
    return snapshot
  }

  /// The entries of a listing's pages.
  private final class Pages: Sendable {
    private struct State {
      var items: [ServerItem] = []
      /// The first name and the next mark of the last page.
      var first: FileName?
      var next: String?
    }

    private let state = UnfairLock(State())

    /// Adds a page. Returns the number of entries.
    ///
    /// - Throws: damage if the page begins as the one before or has the same mark. A server that repeats a page would
    ///   never end.
    func add(_ page: (items: [ServerItem], next: String?)) throws(Fault) -> Int {
      let first = page.items.first?.name
      let count = state.withLock { state -> Int? in
        if first != nil && first == state.first || page.next != nil && page.next == state.next { return nil }
        (state.first, state.next) = (first, page.next)
        state.items += page.items
        return state.items.count
      }
      guard let count else { throw Fault(.damaged, "the server repeats a page of its listing") }
      return count
    }

    func taken() -> [ServerItem] {
      state.withLock { state in
        defer { state.items = [] }
        return state.items
      }
    }
  }

  /// Requests a page of a directory's entries, after `pages`.
  private func page(
    of path: [UInt8], known: Snapshot?, _ pages: Pages, after mark: String?, since began: UInt64,
    _ fetch: SharedFetch<Snapshot>
  ) {
    var exchange = interface.listing(of: path, after: mark)
    // Without a condition, the response may come from the cache of `ffmount serve`.
    if mark == nil, let tag = known?.tag ?? (interface is ServerInterface ? "\"none\"" : nil) {
      exchange.headers.append("If-None-Match: \(tag)")
    }
    let call = RepeatedRequest(
      self, exchange, limit: Self.largestListing, takesStart: interface.file != nil
    ) { [self] result in
      let finish: @Sendable () -> Void = { [self] in
        do throws(Fault) {
          let answer = try result.get()
          if answer.head.status == 304, mark == nil, let known {
            return fetch.finish(.success(known.confirmed(after: HTTPClient.now - began)))
          }
          if answer.head.status == 400, interface is ServerInterface { throw Fault(.system(ENOTDIR)) }
          guard answer.isSuccess else { throw fault(answer) }
          let page = try interface.listing(answer, of: path)
          guard try pages.add(page) <= ServerItem.mostInFolder else {
            throw ServerItem.tooMany
          }
          if let next = page.next {
            return self.page(of: path, known: nil, pages, after: next, since: began, fetch)
          }
          let tag = mark == nil ? answer.head.tag : nil
          let snapshot = keep(pages.taken(), of: path, tag: tag, took: HTTPClient.now - began)
          fetch.finish(.success(snapshot))
        } catch { fetch.finish(.failure(error)) }
      }
      // A large response is not parsed on the thread of all requests.
      if let answer = try? result.get(), answer.body.count > Self.largestItem {
        helpers.submit(finish)
      } else {
        finish()
      }
    }
    fetch.whenAbandoned { call.cancel() }
    call.start()
  }
}
