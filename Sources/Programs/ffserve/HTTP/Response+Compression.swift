import NIOCore
import NIOHTTP1

extension Response {
  /// The minimum size of a body that is compressed, in bytes.
  private static let leastCompressed = 1024
  /// The beginnings of media types whose bodies shrink.
  private static let compressible = ["application/json", "application/xml", "text/"]

  /// Returns the response with its body compressed, if the client accepts that and the response was made in memory. A file keeps its bytes, of which clients request parts. Blocks for some milliseconds at most.
  func compressed(for request: HTTPRequest) -> Response {
    guard case .buffer(let bytes) = body, bytes.readableBytes >= Self.leastCompressed,
      status == .ok || status == .multiStatus, header("Accept-Ranges") == nil, let type = header("Content-Type"),
      Self.compressible.contains(where: { type.hasPrefix($0) })
    else { return self }
    let varied = with("Vary", (header("Vary").map { "\($0), " } ?? "") + "Accept-Encoding")
    guard let coding = request.acceptedCoding, let coded = coding.encode(bytes) else { return varied }
    // The tag is of the bytes before the compression, so it is weak.
    let tag = header("ETag").map { $0.hasPrefix("W/") ? $0 : "W/" + $0 }
    let tagged = tag.map { varied.with("ETag", $0) } ?? varied
    return Response(status, headers: tagged.headers + [("Content-Encoding", coding.rawValue)], .bytes(coded))
  }

  private func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
