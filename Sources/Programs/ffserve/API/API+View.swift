import Bytes
import FileTrees
import NIOHTTP1
import Text
import Tree

extension API {
  /// The maximum size of a text in a response, in bytes.
  private static let mostText = 1 << 20

  /// Handles `/api/view`: a file for the page to show.
  func view(_ path: TreePath) throws(Fault) -> Response {
    let place = try site.place(path)
    guard place.attributes.kind == .file, let name = path.names.last else {
      return .problem(.badRequest, "it is a folder (ask /api/list)", instance: path.encoded)
    }
    let type = MediaType.of(name)
    let size = place.attributes.isPreliminary ? nil : place.attributes.size
    var answer = ViewAnswer(
      path: path.text, name: name.text, type: .binary, mimeType: type ?? MediaType.unknown, size: size,
      url: "/api/file?path=" + Percent.encoded(path.bytes))
    if let type, type.hasPrefix("image/"), type != "image/svg+xml" {
      answer.type = .image
      // Does not convert a file only to determine the picture's size.
      if !place.attributes.isPreliminary {
        let head = try head(of: place, 64 << 10)
        answer.dimensions = ImageSize.of(head).map { .init(width: $0.width, height: $0.height) }
      }
      return .json(answer)
    }
    let language = SourceLanguage.of(name)
    guard language != nil || type == nil || type?.hasPrefix("text/") ?? false else { return .json(answer) }
    let head = try head(of: place, Self.mostText + 1)
    if language == nil, !Self.isText(head) { return .json(answer) }
    let isCut = head.count > Self.mostText
    answer.type = language == "markdown" ? .markdown : .text
    answer.content = FileTree.TextEncoding.detected.text(of: head.prefix(Self.mostText), isCut: isCut)
    answer.isCut = isCut
    answer.language = language ?? "plain"
    return .json(answer)
  }

  private func head(of place: ResolvedPath, _ count: Int) throws(Fault) -> [UInt8] {
    let file = try place.open(.blocking)
    return try file.reading(.blocking) { (source) throws(Fault) in
      var bytes = [UInt8](repeating: 0, count: source.hasKnownSize ? Int(min(Int64(count), source.size)) : count)
      var fault: Fault?
      let got = unsafe bytes.withUnsafeMutableBytes { room -> Int in
        do throws(Fault) { return unsafe try source.read(into: room, at: 0, .blocking) } catch {
          fault = error
          return 0
        }
      }
      if let fault { throw fault }
      return Array(bytes.prefix(got))
    }
  }

  /// Returns whether the bytes look like text: no control characters except white space and escape.
  private static func isText(_ bytes: [UInt8]) -> Bool {
    !bytes.prefix(4096).contains { $0 < 0x20 && ![0x09, 0x0a, 0x0c, 0x0d, 0x1b].contains($0) }
  }
}
