import Bytes
import NIOHTTP1
import Text
import Tree

/// A directory as a page of plain links, for clients that follow them: `wget -r`, `rclone`'s http, players, browsers
/// without scripts.
struct FolderPage {
  private let path: TreePath
  private let base: String
  private var rows: [(isFile: Bool, name: FileName, attributes: Attributes?)] = []

  /// - Parameter base: the part of the server's addresses before `/dav`.
  init(_ path: TreePath, below base: String) {
    self.path = path
    self.base = base
  }

  /// - Parameter attributes: those of a file or directory. Nil if they cannot be read.
  mutating func add(_ name: FileName, _ kind: Kind, _ attributes: Attributes?) {
    rows.append((kind != .folder, name, attributes))
  }

  /// The page. Directories come first. Links are relative, so that the page can be behind a proxy.
  var response: Response {
    let title = MultiStatus.escaped(path.text)
    var text =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>\(title)</title></head><body>\n"
      + "<h1>\(title)</h1>\n<p><a href=\"\(base)/#\(path.encoded)\">Show in the viewer</a></p>\n<table>\n"
    if !path.names.isEmpty { text += "<tr><td><a href=\"../\">../</a></td></tr>\n" }
    let sorted = rows.sorted { one, other in
      one.isFile == other.isFile
        ? one.name.bytes.lexicographicallyPrecedes(other.name.bytes) : !one.isFile
    }
    for (isFile, name, attributes) in sorted {
      let slash = isFile ? "" : "/"
      let size = attributes.flatMap { isFile && !$0.isPreliminary ? String($0.size) : nil } ?? ""
      let time = attributes.map { HTTPDate.iso($0.modified) } ?? ""
      text +=
        "<tr><td><a href=\"\(Percent.encoded(name.bytes))\(slash)\">\(MultiStatus.escaped(name.text))\(slash)</a></td>"
        + "<td>\(time)</td><td>\(size)</td></tr>\n"
    }
    text += "</table>\n</body></html>\n"
    return Response(
      .ok, headers: [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-cache"), Response.inert],
      .bytes(Array(text.utf8)))
  }
}
