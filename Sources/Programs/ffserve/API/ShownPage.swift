import Bytes
import FileTrees
import Mail
import NIOHTTP1
import Text
import Tree

/// What a browser gets that shows a page of the tree by itself, in a frame or a window: not the file's bytes, as a policy
/// does not keep a browser from connecting to whom a page names (`<link rel=preconnect>`), but what is harmless of it.
/// What asks for files, and does not show them, gets the bytes.
enum ShownPage {
  /// Larger ones are shown as text, in bytes.
  private static let largest: Int64 = 8 << 20

  private static let destinations: Set = ["document", "iframe", "frame", "object", "embed", "fencedframe"]

  /// Whether the request is a browser's that will show what it gets (Fetch Metadata, W3C).
  static func isAsked(by request: Request) -> Bool {
    request.header("sec-fetch-dest").map { destinations.contains($0) } ?? false
  }

  /// - Parameter headers: those of the file, whose state is none of the page's. Blocks.
  static func response(
    _ file: Tree.OpenFile, type: String, _ request: Request, _ headers: [(name: String, value: String)]
  ) throws(Fault) -> Response {
    var headers = headers.filter { !["Content-Type", "ETag", "Last-Modified", "Accept-Ranges"].contains($0.name) }
    headers.append(("Vary", "Sec-Fetch-Dest"))
    if type == "image/svg+xml" {
      // As a picture it can load and run nothing.
      let target = MultiStatus.escaped("\(request.path)?\(request.query.sent)")
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
