import Bytes
import Files
import Tree

/// A request to the server.
struct HTTPExchange: Sendable {
  /// The target, relative to the server's path: `/api/list?path=%2F`.
  var target: String
  var method = "GET"
  /// The body of the request. Nil if it has none.
  var content: String?
  /// The file that is sent as the body. Nil for most requests.
  var upload: Upload?
  /// Additional headers, each as `Name: value`.
  var headers: [String] = []
  /// The time limit of the whole request, in milliseconds. Nil if it is not limited while the server responds.
  var limit: Int?

  /// Whether the response does not end, and its bytes may be few.
  var isEndless = false

  /// The URL to which the server has redirected the request. Nil if it has not.
  var redirected: Redirected?

  struct Redirected: Sendable {
    var url: String
    /// Whether the URL is of another server, which gets no credentials and must have a public address.
    var isAbroad: Bool
    /// The number of redirections up to this one.
    var count = 1
    /// Whether the URL is from an earlier request.
    var isRemembered = false
  }

  init(_ target: String, headers: [String] = [], limit: Int? = nil) {
    self.target = target
    self.headers = headers
    self.limit = limit
  }
}

extension HTTPExchange {
  /// The first bytes of a file, or those of them from an offset on.
  struct Upload: Sendable {
    let file: TemporaryFile
    /// The number of bytes, including those before the offset.
    let size: Int64
    var start: Int64 = 0

    /// Fills a buffer with bytes from an offset. Returns their number. Returns `nil` if they cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Int? {
      let count = Int(min(Int64(buffer.count), max(0, size - offset)))
      guard count > 0 else { return 0 }
      let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
      do throws(Fault) { unsafe try file.read(into: part, at: offset) } catch { return nil }
      return count
    }

    func bytes(at offset: Int64, count: Int) throws(Fault) -> [UInt8] {
      let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
        filled = unsafe read(into: UnsafeMutableRawBufferPointer(buffer), at: offset) ?? 0
      }
      guard bytes.count == count else { throw .stale }
      return bytes
    }
  }
}

/// A receiver of a response as it arrives. All methods are called on the wire's thread, and must not block.
protocol Receiver: AnyObject, Sendable {
  /// Receives the header of the response. Returning `false` ends the request.
  func begin(_ head: AnswerHead) -> Bool

  /// Receives some bytes of the body, which are valid only during the call.
  func take(_ bytes: UnsafeRawBufferPointer) -> Taking

  /// Receives the outcome of the request. No method is called afterwards.
  func end(_ outcome: Outcome)
}

enum Taking {
  case taken
  /// The bytes are not accepted yet, and arrive again after `HTTPClient.resume`.
  case later
  /// No more bytes are needed.
  case ended
}

enum Outcome: Sendable {
  /// The whole response arrived.
  case complete
  /// The receiver ended the request.
  case stopped
  /// A connection cannot be made currently, but a later attempt may succeed. The reason is the end of a sentence.
  case away(String)
  /// The connection was lost before the end of the response, but another attempt may succeed. The reason is the end of
  /// a sentence.
  case lost(String)
  /// The server has not responded for too long.
  case silent
  /// Another attempt would fail as well. The reason is the end of a sentence.
  case failed(String)
}
