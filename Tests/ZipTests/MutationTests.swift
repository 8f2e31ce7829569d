import Bytes
import Synchronization
import TestSupport
import Testing
import Zip

@testable import Fuzzing

/// Archives with a few bytes changed: whatever the result, there is no crash, and reads are consistent.
@Suite(.timeLimit(.minutes(10))) struct MutationTests {
  @Test(arguments: 0..<8) func mutatedArchivesNeverCrash(batch: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(batch))
    let seeds = FuzzTarget.zip.seeds()
    var opened = 0
    for round in 0..<500 {
      let bytes = numbers.mutation(of: seeds[round % seeds.count])
      if (try? ZipArchive(bytes: bytes)) != nil { opened += 1 }
      let complaints = FuzzTarget.zip.complaints(bytes)
      #expect(complaints.isEmpty, "batch \(batch), round \(round)")
    }
    // Otherwise the loop would show little.
    #expect(opened > 200)
  }

  @Test(.enabled("needs the corpus beside the project") { sharedCorpus != nil }, arguments: 0..<4)
  func mutatedRealArchivesNeverCrash(batch: Int) throws {
    var numbers = SeededNumbers(seed: 100 + UInt64(batch))
    let archives = CorpusArchive.all.compactMap { try? $0.bytes() }.filter { $0.count < 8192 }
    for round in 0..<100 {
      let bytes = numbers.mutation(of: archives[numbers.below(archives.count)])
      let complaints = FuzzTarget.zip.complaints(bytes)
      #expect(complaints.isEmpty, "batch \(batch), round \(round)")
    }
  }

  @Test func validArchivesAreReadWithoutComplaint() throws {
    for bytes in FuzzTarget.zip.seeds() {
      _ = try ZipArchive(bytes: bytes)
      #expect(FuzzTarget.zip.complaints(bytes).isEmpty)
    }
  }

  /// Checks that the loops above can detect anything.
  @Test func differingReadsAreDetected() {
    let bytes = ZipFixture(ZipFixtureEntry("a", String(repeating: "x", count: 500_000))).bytes()
    var reading = ZipReading()
    reading.read(FlickeringSource(bytes), inputSize: bytes.count, depth: 0)
    #expect(reading.complaints.contains { $0.contains("the second time") })
  }
}

/// Returns different bytes for each long read.
private final class FlickeringSource: ByteSource {
  private let source: ByteArraySource
  private let reads = Mutex<UInt8>(0)
  var size: Int64 { source.size }

  init(_ bytes: [UInt8]) { source = ByteArraySource(bytes) }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    let got = unsafe try source.read(into: buffer, at: offset, blocking)
    if got == 5000 {
      unsafe buffer[0] = reads.withLock { reads in
        reads &+= 1
        return reads
      }
    }
    return got
  }
}
