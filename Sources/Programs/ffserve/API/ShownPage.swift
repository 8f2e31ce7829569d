import Bytes
import FileTrees
import HTML
import NIOHTTP1
import Text
import Tree

/// The response for a browser that shows a page of the tree in a frame or a window. It contains only the harmless part
/// of the file, because a policy does not keep a browser from connecting to hosts that a page names (`<link
/// rel=preconnect>`). Clients that do not show the file get its bytes.
enum ShownPage {
  /// The maximum size of a page, in bytes. Larger ones are shown as text.
  private static let largest: Int64 = 8 << 20

  private static let destinations: Set = ["document", "iframe", "frame", "object", "embed", "fencedframe"]

  /// Returns whether the request is from a browser that will show the response (Fetch Metadata, W3C).
  static func isAsked(by request: HTTPRequest) -> Bool {
    request.header("sec-fetch-dest").map { destinations.contains($0) } ?? false
  }

  /// Blocks.
  ///
  /// - Parameter headers: the file's headers. Those about its bytes do not apply to the page and are removed.
  static func response(
    _ file: Tree.OpenFile, type: String, _ request: HTTPRequest, _ headers: [(name: String, value: String)]
  ) throws(Fault) -> Response {
    var headers = headers.filter { !["Content-Type", "ETag", "Last-Modified", "Accept-Ranges"].contains($0.name) }
    headers.append(("Vary", "Sec-Fetch-Dest"))
    if type == "image/svg+xml" {
      // An SVG in an `img` element can neither load nor run anything.
      let target = MultiStatus.escaped("\(request.base)\(request.path)?\(request.query.sent)")
      headers.append(("Content-Type", "text/html; charset=utf-8"))
      return Response(.ok, headers: headers, .bytes(Array("<!DOCTYPE html><img alt=\"\" src=\"\(target)\">".utf8)))
    }
    let bytes = try file.reading(.blocking) { (source) throws(Fault) in
      try source.findSize(.blocking)
      return try source.bytes(at: 0, count: Int(min(source.size, largest + 1)))
    }
    let isPage = (type == "text/html" || type == "application/xhtml+xml") && bytes.count <= largest
    headers.append(("Content-Type", isPage ? "text/html; charset=utf-8" : "text/plain; charset=utf-8"))
    let shown = FileTree.TextEncoding.detected.text(of: bytes.prefix(Int(largest)), isCut: bytes.count > largest)
    let text = Array((shown ?? "").utf8)
    guard isPage else { return Response(.ok, headers: headers, .bytes(text)) }
    return Response(.ok, headers: headers, .bytes(Array("<!DOCTYPE html>".utf8) + HarmlessPage.made(text)))
  }
}
