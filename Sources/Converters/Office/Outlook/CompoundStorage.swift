internal import CGsf
internal import Catalogue
internal import WorkerKit

/// A storage of a compound file (MS-CFB), which contains streams and other storages by their names.
@safe final class CompoundStorage {
  private let storage: OpaquePointer
  /// The input whose mapped bytes are read.
  private let input: JobInput

  /// Opens the root storage of a file.
  init(_ input: JobInput) throws(JobFailure) {
    guard let storage = unsafe ffgsf_open(input.bytes.baseAddress, input.count) else {
      throw JobFailure(.damaged, "is not a readable compound file (at byte 0)")
    }
    unsafe self.storage = storage
    self.input = input
  }

  private init(_ storage: OpaquePointer, _ input: JobInput) {
    unsafe self.storage = storage
    self.input = input
  }

  deinit { unsafe g_object_unref(UnsafeMutableRawPointer(storage)) }

  /// The names of all entries. O(names).
  var names: [String] {
    unsafe (0..<max(0, gsf_infile_num_children(storage))).compactMap { index in
      unsafe gsf_infile_name_by_index(storage, index).map { unsafe String(cString: $0) }
    }
  }

  /// Returns an inner storage. Returns `nil` if there is none. O(names).
  func storage(named name: String) -> CompoundStorage? {
    guard let child = unsafe gsf_infile_child_by_name(storage, name) else { return nil }
    guard let inner = unsafe ffgsf_storage(child) else {
      unsafe g_object_unref(UnsafeMutableRawPointer(child))
      return nil
    }
    return unsafe CompoundStorage(inner, input)
  }

  /// Returns a stream. Returns `nil` if there is none. O(names).
  func stream(named name: String) -> CompoundStream? {
    guard let child = unsafe gsf_infile_child_by_name(storage, name) else { return nil }
    guard unsafe ffgsf_storage(child) == nil else {
      unsafe g_object_unref(UnsafeMutableRawPointer(child))
      return nil
    }
    return unsafe CompoundStream(child, input)
  }
}

/// A stream of a compound file, read from its start.
@safe final class CompoundStream {
  private let stream: OpaquePointer
  private let input: JobInput
  /// The size in bytes, limited to that of the whole file.
  let size: Int
  private var place = 0

  fileprivate init(_ stream: OpaquePointer, _ input: JobInput) {
    unsafe self.stream = stream
    self.input = input
    size = unsafe min(max(0, Int(gsf_input_size(stream))), input.count)
  }

  deinit { unsafe g_object_unref(UnsafeMutableRawPointer(stream)) }

  /// Returns the next bytes, at most `count`. Returns none at the end.
  func next(_ count: Int) throws(JobFailure) -> [UInt8] {
    let wanted = min(count, size - place)
    guard wanted > 0 else { return [] }
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: wanted) { buffer, count in
      count = unsafe gsf_input_read(stream, wanted, buffer.baseAddress) == nil ? 0 : wanted
    }
    guard !bytes.isEmpty else { throw JobFailure(.damaged, "ends in the middle of one of its parts") }
    place += wanted
    return bytes
  }
}
