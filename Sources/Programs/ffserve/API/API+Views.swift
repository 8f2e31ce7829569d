import Bytes
import FileTrees
import Text

extension API {
  /// Handles `/api/views`: the views of a file or directory. Reads its first bytes, but makes no conversion. Blocks.
  func views(_ path: TreePath) throws(Fault) -> Response {
    let base = Array(path.names.dropLast())
    let found = try site.library.viewNames(of: site.place(path)).map { view in
      let own = TreePath(names: base + [view.fileName])
      let kind: ItemKind = view.kind == .directory ? .directory : view.kind == .file ? .file : .other
      return ViewsAnswer.View(
        name: view.fileName.text, path: own.text, type: kind, view: view.view,
        mimeType: kind == .file ? MediaType.of(view.fileName) : nil, isListed: view.isListed,
        encodedPath: own.bytes.span.isUTF8 ? nil : own.encoded)
    }
    return .json(ViewsAnswer(path: path.text, views: found))
  }
}
