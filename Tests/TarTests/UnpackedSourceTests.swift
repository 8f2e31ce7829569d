import Bytes
import Synchronization
import TestSupport
import Testing

@testable import Codecs
@testable import Fuzzing

/// The content of compressed files, at any offset.
@Suite(.timeLimit(.minutes(5))) struct UnpackedSourceTests {
  /// Files of some megabytes in each format, and their content.
  private static let made: (plain: [UInt8], files: [[UInt8]])? = {
    let code = """
      import bz2, gzip, lzma, subprocess
      plain = mixture((5 << 20) + 12345, 5)
      give(plain)
      def by(*program): return subprocess.run(program, input=plain, stdout=subprocess.PIPE, check=True).stdout
      give(gzip.compress(plain[:2000000], 6) + gzip.compress(b"") + gzip.compress(plain[2000000:], 1) + bytes(1000))
      give(bz2.compress(plain[:2000000]) + bz2.compress(plain[2000000:], 3))
      give(by("xz", "-0", "-c", "--block-size=1MiB") + bytes(8))
      give(lzma.compress(plain, preset=0))
      give(lzma.compress(plain, lzma.FORMAT_ALONE, preset=0))
      give(by("zstd", "-q", "-c"))
      """
    guard let parts = try? Python.pieces(of: code), let plain = parts.first, parts.count == 7 else { return nil }
    return (plain.bytes, parts.dropFirst().map(\.bytes))
  }()
  static let names = ["gzip", "bzip2", "xz in blocks", "xz in one block", "lzma", "zstd"]

  /// Beyond their memory, every second restart point goes, and not all.
  @Test func restartPointsAreThinnedOut() {
    var state = UnpackedSource.State()
    let limit = 100_000
    for number in 1...1000 {
      // As the decoder does.
      let distance = Int64(number) * UnpackedSource.length - (state.places.last?.output ?? 0)
      if distance < state.spacing { continue }
      let inflation = FileRestartPoint.Inflation(image: [UInt8](repeating: 0, count: 936), crc: 0, size: 0)
      let place = FileRestartPoint(
        output: Int64(number) * UnpackedSource.length, input: Int64(number), inflation: inflation)
      state.note(place, atMost: limit)
      #expect(state.cost <= limit)
      if number > 100 { #expect((40...100).contains(state.places.count), "\(number)") }
    }
    #expect(state.places.map(\.output) == state.places.map(\.output).sorted() && state.places[0].output == 0)
  }

  @Test func compressionFormatsAreDetectedAndDecoded() throws {
    for (name, bytes) in CompressedSeeds.named {
      let packing = CompressedFormat(startingWith: bytes[...]) ?? .brotli
      #expect("\(packing)" == name)
      let source = UnpackedSource(of: ByteArraySource(bytes), packing, cache: BlockCache(capacity: 1 << 20))
      #expect(try source.readThrough() == CompressedSeeds.plain, "\(name)")
      #expect(
        source.hasKnownSize && source.size == Int64(CompressedSeeds.plain.count) && source.fault == nil, "\(name)")
    }
  }

  @Test(.enabled("needs python3, xz and zstd") { made != nil }, arguments: names.indices)
  func unpackedBytesAreReadInAnyOrder(file: Int) throws {
    let (plain, files) = try #require(Self.made)
    let bytes = files[file]
    let packing = try #require(CompressedFormat(startingWith: bytes[...]))
    for spool in [Int.max, 2 << 20, 0] {
      let source = UnpackedSource(
        of: ByteArraySource(bytes), packing, cache: BlockCache(capacity: 1 << 20),
        spool: { spool == 0 ? nil : MemorySpool(capacity: spool) })
      var numbers = SeededNumbers(seed: 3)
      for place in [plain.count - 100, 100] + (0..<(spool == 0 ? 0 : 3)).map({ _ in numbers.below(plain.count) }) {
        let wanted = Array(plain[place..<min(plain.count, place + 70_000)])
        #expect(try source.partialBytes(at: Int64(place), count: 70_000) == wanted, "\(Self.names[file]) at \(place)")
      }
      try source.findSize(.blocking)
      #expect(source.size == Int64(plain.count) && source.fault == nil)
      #expect(try source.partialBytes(at: source.size, count: 10).isEmpty)
    }
  }

  @Test(.enabled("needs python3, xz and zstd") { made != nil }, arguments: names.indices)
  func truncatedCompressedFileEndsWithAFault(file: Int) throws {
    let (plain, files) = try #require(Self.made)
    let half = Array(files[file].prefix(files[file].count / 2))
    let source = UnpackedSource(
      of: ByteArraySource(half), try #require(CompressedFormat(startingWith: half[...])),
      cache: BlockCache(capacity: 1 << 20))
    let all = try source.readThrough()
    #expect(all.count > plain.count / 8 && all == Array(plain.prefix(all.count)), "\(Self.names[file])")
    #expect(source.fault?.kind == .damaged && source.size == Int64(all.count))
  }

  @Test(.enabled("needs python3, xz and zstd") { made != nil }, arguments: [0, 1])
  func restartPointsAreReusedByTheNextProcess(file: Int) throws {
    let (plain, files) = try #require(Self.made)
    let packing = try #require(CompressedFormat(startingWith: files[file][...]))
    let store = PlaceStore()
    let first = CountingSource(files[file])
    do {
      let source = UnpackedSource(of: first, packing, cache: BlockCache(capacity: 1 << 20, restarts: store))
      try source.findSize(.blocking)
    }
    store.settle()
    #expect(first.count >= files[file].count)
    let second = CountingSource(files[file])
    let source = UnpackedSource(of: second, packing, cache: BlockCache(capacity: 1 << 20, restarts: store))
    try source.findSize(.blocking)
    #expect(source.size == Int64(plain.count) && second.count < 4096)
    let end = plain.count - 1000
    #expect(try source.partialBytes(at: Int64(end), count: 1000) == Array(plain[end...]))
    // bzip2's blocks are searched for their ends.
    #expect(second.count < files[file].count * 3 / 4)
    // What was damaged since is noticed, and done without.
    store.damage()
    let third = UnpackedSource(
      of: CountingSource(files[file]), packing, cache: BlockCache(capacity: 1 << 20, restarts: store))
    #expect(try third.partialBytes(at: Int64(end), count: 1000) == Array(plain[end...]))
  }

  @Test func contentBeyondTheLimitIsNotRead() throws {
    let zeros = ZipDeflate.zeros(5_000_000)
    let bytes = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3] + zeros + [UInt8](repeating: 0, count: 8)
    let source = UnpackedSource(
      of: ByteArraySource(bytes), .gzip, limit: 1 << 20, cache: BlockCache(capacity: 1 << 20))
    try source.findSize(.blocking)
    #expect(source.size <= 3 << 20 && source.fault?.kind == .limit)
  }
}

/// A file that counts what is read of it.
final class CountingSource: ByteSource {
  private let source: ByteArraySource
  private let read = Mutex(0)
  var size: Int64 { source.size }
  var identity: ByteIdentity? {
    ByteIdentity(device: 1, inode: 2, size: size, modified: Timestamp(seconds: 3), changed: Timestamp(seconds: 4))
  }
  var count: Int { read.withLock { $0 } }

  init(_ bytes: [UInt8]) { source = ByteArraySource(bytes) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    let count = unsafe try source.read(into: buffer, at: offset, blocking)
    read.withLock { $0 += count }
    return count
  }
}

/// A store in memory, which stores queued places when `settle` is called.
final class PlaceStore: RestartStore {
  private let images = Mutex<[Int64: [UInt8]]>([:])
  private let waiting = Mutex<[@Sendable () -> [StoredRestartPoint]]>([])

  func last(of stream: ByteIdentity, in places: ClosedRange<Int64>) -> StoredRestartPoint? {
    images.withLock { images in
      images.keys.filter(places.contains).max().map { StoredRestartPoint(place: $0, image: images[$0] ?? []) }
    }
  }

  func note(of stream: ByteIdentity, cost: Int, _ make: @escaping @Sendable () -> [StoredRestartPoint]) {
    waiting.withLock { $0.append(make) }
  }

  func forget(_ stream: ByteIdentity) { images.withLock { $0 = [:] } }

  func settle() {
    for make in waiting.withLock({ $0 }) {
      for point in make() { images.withLock { $0[point.place] = point.image } }
    }
  }

  /// Every place leads elsewhere.
  func damage() {
    images.withLock { images in
      for (place, image) in images where place != .max { images[place] = image.map { $0 ^ 0x55 } }
    }
  }
}
