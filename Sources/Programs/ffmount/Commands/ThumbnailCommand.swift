import ArgumentParser
import Assembly
import Bytes
import Catalogue
import FileTrees
import Glibc
import SystemPackage
import Tree

/// `ffmount thumbnail INPUT OUTPUT`: makes a thumbnail of a file. Called by file managers.
struct ThumbnailCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "thumbnail", abstract: "Makes a small PNG of an image or PDF, for file managers.",
    usage: "ffmount thumbnail INPUT OUTPUT [--size PIXELS]")

  @Argument(help: "An image or a PDF, also one inside a mount.", completion: .file())
  var input: String

  @Argument(help: "The PNG to write.", completion: .file())
  var output: String

  @Option(name: [.short, .long], parsing: .unconditional, help: "The maximum number of pixels on the longest side.")
  var size = 256

  func validate() throws {
    guard (1...4096).contains(size) else { throw ValidationError("--size \(size): expected 1 to 4096 pixels") }
  }

  func run() throws {
    try RunningMount.expectAnswers(onTheWayTo: [input], toDo: "make a thumbnail of")
    try RunningMount.expectAnswers(onTheWayTo: [output], toDo: "write")
    let problem = "cannot make a thumbnail of \(input)"
    let bytes: [UInt8]
    do { bytes = try made() } catch let refusal as Refusal {
      throw Refusal(refusal.status, "\(problem): \(refusal.sentence)")
    } catch let error as FileTreeError {
      throw Refusal(
        .failure, "\(problem): \(error.code == .unsupported ? Self.unsuitable : error.sentence)\(error.readAdvice)")
    }
    do throws(SystemError) { try save(bytes) } catch {
      let folder = FilePath(output).removingLastComponent().string
      let reason =
        error.code == ENXIO
        ? "the pipe has no reader"
        : describe(error.code) + Refusal.writeAdvice(error.code, in: folder, other: "give another file")
      throw Refusal(.failure, "cannot write the thumbnail to \(output): \(reason)")
    }
  }

  /// Returns the PNG. A view of a picture gets the thumbnail of the picture itself, which is cached once.
  private func made() throws -> [UInt8] {
    var path = input
    while let source = Self.source(of: path), unsafe access(source, R_OK) == 0 { path = source }
    let place = try CommandTree(path)
    if place.isFolder { throw Refusal(.usage, "not a file") }
    return try place.finish { [size] (tree, path) throws(FileTreeError) in
      let picture = try await tree.convert(path, to: .png, options: .init(longestSide: size)).result()
      return try await tree.read(picture, limit: Self.largest)
    }
  }

  private static var unsuitable: String {
    Converter.installed["ffconvert"] ?? Converter.installed[Converter.reduced] == nil
      ? "ffconvert is not installed (\(Converter.remedy()))" : "neither an image nor a PDF"
  }

  /// The size of 4096 by 4096 pixels, in bytes, as the limit of the output.
  private static let largest = 128 << 20

  /// Returns the path of the picture that a name such as `x.heic.as-jpeg` is a view of. Returns `nil` if it is not a
  /// view.
  private static func source(of path: String) -> String? {
    let slash = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
    guard let (source, asksFor) = FormatSuffix.split(FileName(path[slash...].utf8)),
      Format.images.contains(where: asksFor), !source.isEmpty
    else { return nil }
    return path[..<slash] + String(decoding: source, as: UTF8.self)
  }

  /// Replaces the output, or leaves it unchanged on failure.
  ///
  /// An empty file is filled, not replaced. It was created for the output, and its creator may read it by its
  /// descriptor, as tumbler does.
  private func save(_ bytes: [UInt8]) throws(SystemError) {
    var status = stat()
    let isThere = unsafe stat(output, &status) == 0
    let isFile = status.st_mode & S_IFMT == S_IFREG
    let isFilled = isThere && (!isFile || status.st_size == 0)
    let path = isFilled ? output : "\(output).\(getpid()).part"
    // Does not wait for a reader of a fifo.
    let flags = O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | (isFilled ? 0 : O_CREAT | O_EXCL | O_NOFOLLOW)
    let file = unsafe open(path, flags, 0o600)
    guard file >= 0 else { throw SystemError(code: errno) }
    defer { close(file) }
    // Lets writes to a fifo with a reader block.
    _ = fcntl(file, F_SETFL, O_WRONLY)
    do throws(SystemError) {
      try Output.write(bytes, to: file)
      guard unsafe isFilled || rename(path, output) == 0 else { throw SystemError(code: errno) }
    } catch {
      if !isFilled { _ = unsafe unlink(path) }
      if isFile { _ = ftruncate(file, 0) }
      throw error
    }
  }
}

/// The file that registers `ffmount thumbnail` with file managers.
enum ThumbnailerEntry {
  /// The contents of a file for the directory `thumbnailers`. It has PDF and the types for which desktops have no
  /// thumbnailer.
  static var text: String {
    let types = (Format.seldomShown + [.avif, .pdf]).flatMap { [$0.mimeType] + $0.otherMimeTypes }
    return """
      [Thumbnailer Entry]
      TryExec=ffmount
      Exec=ffmount thumbnail --size %s %i %o
      MimeType=\(types.joined(separator: ";"));
      """
  }
}
