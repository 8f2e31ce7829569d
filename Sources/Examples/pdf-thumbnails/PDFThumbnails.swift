import FileTrees
import SystemPackage

/// `pdf-thumbnails MAIL FOLDER`: writes a small PNG to a folder for each PDF in the ZIPs attached to a message.
@main
struct PDFThumbnails {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 3 else { return print("usage: pdf-thumbnails MAIL FOLDER") }
    do throws(FileTreeError) {
      let mail = try FileTree(at: FilePath(words[1]))
      let output = try FileTree(at: FilePath(words[2]))
      var number = 0
      for pdf in try await pdfs(below: "", of: mail, isInZip: false) {
        number += 1
        let conversion = mail.convert(pdf.path, to: .png, options: .init(longestSide: 256))
        do throws(FileTreeError) {
          let name = FilePath("\(number) \(pdf.name).png")
          try await output.save(mail.read(conversion.result()), to: name)
          print(name.string)
        } catch  where error.code == .damaged || error.code == .passwordNeeded {
          // A bad PDF does not affect the others.
          print("\(pdf.name): \(error.reason)")
        }
      }
      await mail.close()
    } catch {
      print("pdf-thumbnails: \(error)")
    }
  }

  /// Returns the PDFs in all ZIPs below a directory. PDFs that are attached directly are skipped.
  static func pdfs(
    below folder: FilePath, of tree: FileTree, isInZip: Bool
  ) async throws(FileTreeError) -> [FileTree.Entry] {
    var found: [FileTree.Entry] = []
    for try await entry in tree.entries(of: folder) {
      if isInZip, entry.kind == .file, !entry.isView, entry.name.lowercased().hasSuffix(".pdf") { found.append(entry) }
      let isZip = entry.view == "contents"
      guard entry.kind == .directory, isZip || !entry.isView else { continue }
      found += try await pdfs(below: entry.path, of: tree, isInZip: isInZip || isZip)
    }
    return found
  }
}
