package import Bytes
internal import Synchronization

/// Which views files without an extension have by their first bytes, remembered by the file's state.
final class SniffedFiles: Sendable {
  private let views = Mutex<[UInt64: [Int]]>([:])

  /// Enough for every view to know its own, in bytes.
  static let headSize = 4096
  private static let limit = 16384

  /// What `choose` gives of the file's first bytes; nothing where it cannot be read.
  package func views(
    of found: Found, _ patience: Patience, _ choose: (ArraySlice<UInt8>) -> [Int]
  ) throws(Fault) -> [Int] {
    let revision = found.item.revision(found.attributes)
    if let known = views.withLock({ $0[revision] }) { return known }
    var chosen: [Int] = []
    do throws(Fault) {
      let bytes = try found.item.open(pinned: false, patience)
      chosen = choose(try bytes.head(Self.headSize, patience))
    } catch {
      if error.isDelay { throw error }
    }
    views.withLock { views in
      if views.count >= Self.limit { views.removeAll(keepingCapacity: true) }
      views[revision] = chosen
    }
    return chosen
  }
}

extension ByteSource {
  /// The first `count` bytes, or as many as there are.
  package func head(_ count: Int, _ patience: Patience) throws(Fault) -> ArraySlice<UInt8> {
    var fault: Fault?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      do throws(Fault) {
        initialized = unsafe try read(into: UnsafeMutableRawBufferPointer(buffer), at: 0, patience)
      } catch { fault = error }
    }
    if let fault { throw fault }
    return bytes[...]
  }
}
