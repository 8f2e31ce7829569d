import FileTrees

/// Uses all that the library has for changing files. It is compiled and run by `scripts/check outside` alone, which looks at the
/// files afterwards.
enum ChangeFiles {
  static func run() async throws {
    let tree = try FileTree(at: ".")
    try await tree.createDirectory("work")
    let changes = try await tree.watch("work")
    try await writeAnywhere(tree)
    try await keepAttributes(tree)
    try await makeLinks(tree)
    try await refuse(tree)
    try await copy(tree)
    try await tree.remove("work/last")
    for try await change in changes where change.kind != .attributes {
      print(change.kind, change.oldPath?.string ?? "-", change.path)
      if change.kind == .removed, change.path == "work/last" { break }
    }
    await tree.close()
  }

  private static func writeAnywhere(_ tree: FileTree) async throws {
    let file = try await tree.open(
      "work/file", .readWrite, options: [.create, .exclusiveCreate], permissions: [.ownerReadWrite, .groupRead])
    try await file.write(Array("world".utf8), at: 6)
    try await file.write(Array("hello ".utf8), at: 0)
    try await file.append(Array(", and more".utf8))
    try await file.resize(to: 15)
    print(String(decoding: try await file.read(at: 6, count: 100), as: UTF8.self))
    print(try await file.write(tree.chunks(of: "a.zip", size: 100), at: 4096))
    try await file.synchronize(onlyData: true)
    var sum = 0
    for try await chunk in file.chunks(range: 0..<9999, size: 1000) { sum += chunk.count }
    print(sum, try await file.attributes().size == sum)
    try await file.setAttributes(.init(accessed: .init(seconds: 1, nanoseconds: 2), modified: .init(seconds: 3)))
    try await file.close()
    await expect(.system) { () throws(FileTreeError) in _ = try await file.read(at: 0, count: 1) }
    await expect(.alreadyExists) { () throws(FileTreeError) in
      _ = try await tree.open("work/file", .writeOnly, options: [.create, .exclusiveCreate])
    }
    let member = try await tree.open("a.zip.contents/bill.pdf")
    print(String(decoding: try await member.read(at: 9, count: 8), as: UTF8.self))
  }

  private static func keepAttributes(_ tree: FileTree) async throws {
    try await tree.save(Array("new".utf8), to: "kept")
    try await tree.save(tree.chunks(of: "a.zip", size: 50), to: "kept2")
    await expect(.alreadyExists) { () throws(FileTreeError) in try await tree.save([], to: "kept", replacing: false) }
    try await tree.setAttributes(.init(permissions: [.ownerReadWrite]), of: "kept2")
    try await tree.setExtendedAttribute("user.second", to: [1, 0, 2], of: "kept2")
    print(try await tree.extendedAttributeNames(of: "kept2").sorted())
    print(try await tree.extendedAttribute("user.second", of: "kept2") ?? [])
    try await tree.setExtendedAttribute("user.second", to: nil, of: "kept2")
    let attributes = try await tree.attributes(of: "kept2")
    print(attributes.linkCount, attributes.owner, attributes.group)
  }

  private static func makeLinks(_ tree: FileTree) async throws {
    try await tree.createSymbolicLink("work/link", to: "../a.zip")
    print(try await tree.destination(ofSymbolicLink: "work/link"))
    try await tree.createHardLink("work/second", to: "work/file")
    try await tree.rename("work/second", to: "work/third")
  }

  private static func refuse(_ tree: FileTree) async throws {
    await expect(.readOnlyView) { () throws(FileTreeError) in
      _ = try await tree.open("a.zip.contents/bill.pdf", .readWrite)
    }
    await expect(.readOnlyView) { () throws(FileTreeError) in
      try await tree.setAttributes(.init(permissions: []), of: "a.zip.contents")
    }
    // Another user's, which root can replace.
    do throws(FileTreeError) { try await tree.save(Array("mine".utf8), to: "foreign") } catch { print(error) }
  }

  private static func copy(_ tree: FileTree) async throws {
    let last = Last()
    try await tree.copy("a.zip.contents", to: "unpacked") { last.progress = $0 }
    print(last.progress?.bytes ?? 0, last.progress?.items ?? 0, last.progress?.fraction ?? 0)
    try await tree.copy("work/file", to: "work/last")
  }

  private static func expect(
    _ code: FileTreeError.Code, _ body: () async throws(FileTreeError) -> Void
  ) async {
    do throws(FileTreeError) {
      try await body()
      print("nothing was thrown")
    } catch { print(error.code == code ? "refused" : "\(error)") }
  }

  /// Is called in order by the copy alone.
  private final class Last: @unchecked Sendable {
    nonisolated(unsafe) var progress: FileTree.CopyProgress?
  }
}
