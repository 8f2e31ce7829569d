import Bytes
import Codecs
import Index
import TestSupport
import Testing

@testable import Tree
@testable import Unpacking

@Suite struct IndexedRestartsTests {
  private static func stream(_ inode: UInt64) -> ByteIdentity {
    ByteIdentity(device: 1, inode: inode, size: 3, modified: Timestamp(seconds: 4), changed: Timestamp(seconds: 4))
  }

  @Test func distrustedRestartPointsAreRemoved() async throws {
    try await withScratch { scratch in
      let index = Index(folder: scratch.path + "/index")
      let restarts = IndexedRestarts(index: index)
      let inside = Self.stream(1).adding(.inflate, 5, 6)
      let streams = [Self.stream(1), inside, Self.stream(2)]
      for stream in streams {
        restarts.note(of: stream, cost: 1) {
          [StoredRestartPoint(place: 5, image: [1]), StoredRestartPoint(place: 1 << 40, image: [2])]
        }
      }
      #expect(index.flush(within: .seconds(10)))
      for stream in streams {
        #expect(restarts.last(of: stream, in: 0...1000)?.place == 5)
        #expect(restarts.last(of: stream, in: 6...(1 << 40))?.image == [2])
        #expect(restarts.last(of: stream, in: 6...1000)?.place == nil)
      }
      restarts.forget(Self.stream(1))
      #expect(index.flush(within: .seconds(10)))
      #expect(restarts.last(of: Self.stream(1), in: 0 ... .max) == nil)
      // Those of other streams are kept, including the nested stream's.
      for stream in streams.dropFirst() { #expect(restarts.last(of: stream, in: 0...1000)?.place == 5) }
      index.finish(within: .seconds(10))
    }
  }
}
