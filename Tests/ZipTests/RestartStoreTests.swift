import Bytes
import Codecs
import Foundation
import Synchronization
import TestSupport
import Testing

/// A store in memory, which stores queued points when `settle` is called.
private final class MemoryStore: RestartStore {
  struct State {
    var images: [ByteIdentity: [Int64: [UInt8]]] = [:]
    var waiting: [(ByteIdentity, @Sendable () -> [StoredRestartPoint])] = []
  }
  private let state = Mutex(State())

  func last(of stream: ByteIdentity, in places: ClosedRange<Int64>) -> StoredRestartPoint? {
    state.withLock { state in
      guard let images = state.images[stream], let place = images.keys.filter({ places.contains($0) }).max(),
        let image = images[place]
      else { return nil }
      return StoredRestartPoint(place: place, image: image)
    }
  }

  func note(of stream: ByteIdentity, cost: Int, _ make: @escaping @Sendable () -> [StoredRestartPoint]) {
    state.withLock { $0.waiting.append((stream, make)) }
  }

  func forget(_ stream: ByteIdentity) {
    state.withLock { state in
      state.images[stream] = nil
      state.waiting.removeAll { $0.0 == stream }
    }
  }

  /// Returns how many points were created.
  @discardableResult
  func settle() -> Int {
    var count = 0
    for (stream, make) in state.withLock({ $0.waiting }) {
      for point in make() {
        count += 1
        state.withLock { $0.images[stream, default: [:]][point.place] = point.image }
      }
    }
    state.withLock { $0.waiting = [] }
    return count
  }

  var places: [Int64] { state.withLock { $0.images.values.flatMap(\.keys).sorted() } }
  var streams: Int { state.withLock { $0.images.count } }
  /// The size of all images, in bytes.
  var size: Int { state.withLock { $0.images.values.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.count } } } }

  func change(_ body: (Int64, [UInt8]) -> [UInt8]?) {
    state.withLock { state in
      for (stream, images) in state.images {
        for (place, image) in images { state.images[stream]?[place] = body(place, image) }
      }
    }
  }
}

/// Counts the bytes read of a stream with an identity.
private final class CountingSource: ByteSource {
  private let bytes: [UInt8]
  private let count = Mutex(0)
  let identity: ByteIdentity?
  var size: Int64 { Int64(bytes.count) }

  init(_ bytes: [UInt8], inode: UInt64?) {
    self.bytes = bytes
    identity = inode.map {
      ByteIdentity(
        device: 1, inode: $0, size: Int64(bytes.count), modified: Timestamp(seconds: 5), changed: Timestamp(seconds: 5))
    }
  }

  var read: Int { count.withLock { $0 } }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset < size else { return 0 }
    let wanted = min(buffer.count, bytes.count - Int(offset))
    unsafe buffer.copyBytes(from: bytes[Int(offset)..<Int(offset) + wanted])
    count.withLock { $0 += wanted }
    return wanted
  }
}

@Suite(.enabled("needs python3") { LongStream.isPythonThere }, .serialized)
struct RestartStoreTests {
  /// A source as after a mount, with nothing in memory.
  private func mounted(
    _ stream: LongStream, _ store: MemoryStore, inode: UInt64? = 7, damage: ((inout [UInt8]) -> Void)? = nil
  ) throws -> (InflatedSource, CountingSource) {
    var bytes = try stream.compressed()
    damage?(&bytes)
    let compressed = CountingSource(bytes, inode: inode)
    let source = InflatedSource(
      of: compressed, size: Int64(try LongStream.plain().count), crc: try LongStream.crc(),
      cache: BlockCache(capacity: 2 << 20, restarts: store))
    return (source, compressed)
  }

  private func store(after stream: LongStream) throws -> MemoryStore {
    let store = MemoryStore()
    let (source, _) = try mounted(stream, store)
    _ = try source.readThrough(step: 1 << 20)
    store.settle()
    return store
  }

  private func check(_ source: InflatedSource, at offsets: [Int], count: Int = 9000) throws {
    let plain = try LongStream.plain()
    for offset in offsets {
      let got = try source.partialBytes(at: Int64(offset), count: count)
      guard areSame(got, plain[offset..<min(plain.count, offset + count)]) else {
        Issue.record("\(count) bytes at \(offset) are not what was compressed")
        return
      }
    }
  }

  private func offsets(seed: UInt64, count: Int) throws -> [Int] {
    var numbers = SeededNumbers(seed: seed)
    let size = try LongStream.plain().count
    // Far from the start, where the first pass would continue.
    return (0..<count).map { _ in (5 << 20) + numbers.below(size - (5 << 20)) }
  }

  @Test(arguments: LongStream.all) func everyMebibyteHasARestartPoint(_ stream: LongStream) throws {
    #expect(try store(after: stream).places == Array(1...20))
  }

  @Test(arguments: LongStream.all) func readsAfterRemountUseStoredRestartPoints(_ stream: LongStream) throws {
    let store = try store(after: stream)
    for offset in try offsets(seed: 1, count: 12) {
      let (source, compressed) = try mounted(stream, store)
      try check(source, at: [offset], count: 100)
      // At most two stretches and the decoder's readahead.
      #expect(compressed.read <= compressed.size / 20 * 2 + (1 << 20))
    }
    let (source, _) = try mounted(stream, store)
    try check(source, at: offsets(seed: 2, count: 60))
  }

  @Test(arguments: LongStream.all) func fullReadAfterRemountVerifiesTheChecksum(_ stream: LongStream) throws {
    let store = try store(after: stream)
    let (sound, _) = try mounted(stream, store)
    #expect(areSame(try sound.readThrough(), try LongStream.plain()[...]))
    // Points in the store are not created again.
    #expect(store.settle() == 0)
    #expect(store.places == Array(1...20))

    let wrongSum = InflatedSource(
      of: CountingSource(try stream.compressed(), inode: 7), size: Int64(try LongStream.plain().count), crc: 1,
      cache: BlockCache(capacity: 1 << 20, restarts: store))
    #expect(throws: Fault.self) { _ = try wrongSum.readThrough() }
    store.settle()
    // A different checksum means a different stream, and a stream that does not match its checksum stores nothing.
    #expect(store.streams == 1)
  }

  @Test func partialPassStoresRestartPoints() throws {
    let stream = LongStream.all[0]
    let store = MemoryStore()
    do {
      let (source, _) = try mounted(stream, store)
      for place in 0..<10 { _ = try source.partialBytes(at: Int64(place) << 20, count: 10) }
    }
    store.settle()
    #expect(store.places == Array(1...10))
    let (source, compressed) = try mounted(stream, store)
    try check(source, at: [9 << 20], count: 100)
    #expect(compressed.read < compressed.size / 8)
    try check(source, at: offsets(seed: 3, count: 30))
    #expect(areSame(try source.readThrough(), try LongStream.plain()[...]))
    store.settle()
    #expect(store.places == Array(1...20))
  }

  @Test(arguments: LongStream.all) func damagedRestartPointsNeverGiveWrongBytes(_ stream: LongStream) throws {
    // A real store would detect changes; this one does not, so that the decoder's own checks are tested.
    var numbers = SeededNumbers(seed: 8)
    for round in 0..<6 {
      let store = try store(after: stream)
      store.change { _, image in
        switch round {
        case 0: []
        case 1: Array(image.prefix(numbers.below(image.count)))
        case 2: Array(repeating: 0, count: image.count)
        case 3: Array(image.prefix(12)) + numbers.bytes(image.count - 12)
        // The offset and the size, which nothing else checks.
        case 4: Array(repeating: 0xff, count: 12) + image[12...]
        default: Array(repeating: 0xff, count: 8) + image[8...]
        }
      }
      let (source, _) = try mounted(stream, store)
      try check(source, at: offsets(seed: 20 + UInt64(round), count: 10))
    }
  }

  @Test(arguments: LongStream.all) func flippedRestartPointBitsCauseNoInvalidAccess(_ stream: LongStream) throws {
    let sound = try store(after: stream)
    var numbers = SeededNumbers(seed: 9)
    // The bytes may be wrong then, since only the index's checksum would detect it; but reads end, successfully or with
    // a fault.
    for _ in 0..<20 {
      let store = sound
      store.change { _, image in
        var image = image
        for _ in 0..<4 { image[numbers.below(image.count)] ^= 1 << UInt8(numbers.below(8)) }
        return image
      }
      let (source, _) = try mounted(stream, store)
      for offset in try offsets(seed: numbers.next(), count: 4) {
        _ = try? source.partialBytes(at: Int64(offset), count: 300_000)
      }
    }
  }

  /// A decoder state (`inflate_state` of igzip_lib.h) that is valid except for its number of buffered bits.
  @Test(arguments: [Int32(-1), 65, .max, .min]) func restartPointWithInvalidBitCountIsIgnored(_ bits: Int32) throws {
    let stream = LongStream.all[0]
    let store = try store(after: stream)
    let place = 36
    store.change { _, image in
      let decoded = UnpackedSource(
        of: ByteArraySource(Array(image[16...])), .zstd, cache: BlockCache(capacity: 0))
      guard var memory = try? decoded.readThrough(), (0...64).contains(memory[place]) else { return nil }
      for byte in 0..<4 { memory[place + byte] = UInt8(truncatingIfNeeded: bits >> (8 * Int32(byte))) }
      // A frame of Zstandard with one block as it is (RFC 8878, 3.1.1).
      var frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0xa0]
      frame.append(littleEndian: UInt32(memory.count))
      frame.append(littleEndian: UInt32(memory.count << 3 | 1))
      var header = Array(image[..<12])
      header.append(littleEndian: ZipChecksum.crc32(memory))
      return header + frame.dropLast() + memory
    }
    #expect(store.places == Array(1...20))
    let (source, compressed) = try mounted(stream, store)
    try check(source, at: [18 << 20], count: 100)
    #expect(compressed.read > compressed.size / 20 * 17)
  }

  @Test func damagedStreamDiscardsItsRestartPoints() throws {
    let stream = LongStream.all[0]
    let store = try store(after: stream)
    // With the same identity, as when a disk fails: a read from a point must end with a fault.
    let (source, _) = try mounted(stream, store) { bytes in
      for place in bytes.count / 2..<bytes.count / 2 + 4000 { bytes[place] = 0xff }
    }
    #expect(throws: Fault.self) { _ = try source.readThrough() }
    #expect(store.places.isEmpty)
  }

  @Test func shortOrUnidentifiedStreamsStoreNoPoints() throws {
    let store = MemoryStore()
    let (nameless, _) = try mounted(LongStream.all[0], store, inode: nil)
    _ = try nameless.readThrough(step: 1 << 20)
    let short = Array(try LongStream.plain().prefix(5 << 20))
    let source = InflatedSource(
      of: CountingSource(ZipDeflate.stored(short), inode: 9), size: Int64(short.count),
      crc: ZipChecksum.crc32(short), cache: BlockCache(capacity: 1 << 20, restarts: store))
    _ = try source.readThrough(step: 1 << 20)
    store.settle()
    #expect(store.places.isEmpty)
  }

  @Test func restartPointsOfOtherFilesAreNotUsed() throws {
    let stream = LongStream.all[0]
    let store = try store(after: stream)
    let (other, compressed) = try mounted(stream, store, inode: 8)
    try check(other, at: [18 << 20], count: 100)
    #expect(compressed.read > compressed.size / 20 * 17)
  }

  @Test func eightThreadsReadCorrectlyWhileStoringPoints() throws {
    let stream = LongStream.all[0]
    let store = MemoryStore()
    let (source, _) = try mounted(stream, store)
    try onThreads(8) { thread in
      try check(source, at: offsets(seed: 30 + UInt64(thread), count: 20))
      store.settle()
    }
    store.settle()
    let (again, _) = try mounted(stream, store)
    try onThreads(8) { thread in try check(again, at: offsets(seed: 50 + UInt64(thread), count: 20)) }
  }
}
