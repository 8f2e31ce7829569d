internal import Bytes
internal import Synchronization

/// The first bytes of files without an extension, remembered by the file's state.
final class SniffedFiles: Sendable {
  private let heads = Mutex<[UInt64: ArraySlice<UInt8>]>([:])

  /// Enough for every view to know its own.
  private static let size = 32
  private static let limit = 16384

  func head(of found: Found, _ patience: Patience) throws(Fault) -> ArraySlice<UInt8> {
    let revision = found.item.revision(found.attributes)
    if let known = heads.withLock({ $0[revision] }) { return known }
    let head: ArraySlice<UInt8>
    do throws(Fault) {
      let bytes = try found.item.open(pinned: false, patience)
      head = try bytes.head(Self.size, patience)
    } catch {
      if error == .later { throw error }
      head = []
    }
    heads.withLock { heads in
      if heads.count >= Self.limit { heads.removeAll(keepingCapacity: true) }
      heads[revision] = head
    }
    return head
  }
}

extension ByteSource {
  /// The first `count` bytes, or as many as there are.
  fileprivate func head(_ count: Int, _ patience: Patience) throws(Fault) -> ArraySlice<UInt8> {
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
