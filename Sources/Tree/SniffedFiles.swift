package import Bytes
internal import Synchronization

/// The views of files without an extension, chosen by their first bytes and cached by the file's state.
final class SniffedFiles: Sendable {
  private let views = Mutex<[UInt64: [Int]]>([:])

  /// The number of bytes that every view needs to recognize its sources.
  static let headSize = 4096
  private static let limit = 16384

  /// Returns the result of `choose` for the file's first bytes. Empty if the file cannot be read.
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
  /// Returns the first `count` bytes, or fewer if the source is shorter.
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
