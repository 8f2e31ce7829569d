internal import Catalogue
internal import WorkerKit

/// An in-memory copy of all pages of a damaged document, for readers that find fewer in the original.
@safe final class RepairedDocument {
  /// The maximum size of the copy, in bytes.
  private static let largest = 1 << 30

  /// The copy. Valid as long as this object.
  let bytes: UnsafeRawBufferPointer
  /// The indices of the original's pages that the copy lacks, because they are damaged.
  let lost: [Int]

  /// Copies a document. The copy is opened by the same passwords as the original. Throws if no page is found.
  ///
  /// - Parameter passwords: candidates for opening the document.
  init(of input: JobInput, _ passwords: [[UInt8]]) throws(JobFailure) {
    let tooLarge = JobFailure(.limit, "is damaged, and too large to be repaired")
    let memory = MemorySink(limit: Self.largest, tooLarge)
    let document = try PagedDocument(input, passwords)
    try document.writeAll(to: memory)
    lost = document.unreadable
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: memory.bytes.count, alignment: 1)
    unsafe copy.copyBytes(from: memory.bytes)
    unsafe bytes = UnsafeRawBufferPointer(copy)
  }

  deinit { unsafe bytes.deallocate() }
}
