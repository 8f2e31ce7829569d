import AllViews
import Bytes
import Text
import Tree

extension API {
  /// `/api/views`: what else a file or folder can be. Looks at its first bytes, and makes nothing. Blocks.
  func views(_ path: TreePath) throws(Fault) -> Response {
    let place = try site.place(path)
    guard let name = place.names.last else { return .json(ViewsAnswer(path: path.text, views: [])) }
    let folder = try site.place(TreePath(names: Array(place.names.dropLast())))
    let base = Array(path.names.dropLast())
    var found: [ViewsAnswer.View] = []
    for candidate in site.tree.views.candidates(of: name, place.attributes.kind) {
      guard let view = try unlessDelayed({ () throws(Fault) in try folder.child(candidate.name, .blocking) }),
        let provenance = try unlessDelayed({ () throws(Fault) in try view.provenance(.blocking) }) ?? nil
      else { continue }
      let kind = ItemKind(view.attributes.kind)
      let own = TreePath(names: base + [candidate.name])
      found.append(
        ViewsAnswer.View(
          name: candidate.name.text, path: own.text, type: kind,
          view: provenance.view, mimeType: kind == .file ? MediaType.of(candidate.name) : nil,
          isListed: candidate.isListed, encodedPath: own.bytes.span.isUTF8 ? nil : own.encoded))
    }
    return .json(ViewsAnswer(path: path.text, views: found))
  }
}
