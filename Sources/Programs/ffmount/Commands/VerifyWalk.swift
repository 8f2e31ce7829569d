import FileTrees
import SystemPackage

/// Reads all files inside the archives, mailboxes and compressed files of a tree.
struct VerifyWalk: Sendable {
  enum Event: Sendable {
    /// A container that has been found, by its size in bytes.
    case found(Int64)
    /// A container that has been read, by its size in bytes.
    case finished(Int64)
    /// Bytes that were read.
    case read(Int64)
    case file(FileTree.Verification)
    case bad(FilePath, String)
  }

  let tree: FileTree
  let note: @Sendable (Event) -> Void

  /// The maximum number of archives in one another.
  static let depth = 16
  /// The maximum number of containers that are read at a time.
  private static let width = 2
  /// Reads the containers in a folder and those below it.
  func folder(_ path: FilePath) async throws(FileTreeError) {
    var containers: [(view: FilePath, size: Int64)] = []
    var folders = [path]
    while let next = folders.popLast() {
      do throws(FileTreeError) {
        var choice = ViewChoice()
        for try await entry in tree.entries(of: next) {
          if choice.isWanted(entry) {
            containers.append((entry.path, choice.size))
          } else if entry.view == nil, entry.kind == .directory {
            folders.append(entry.path)
          }
        }
      } catch {
        if error.code == .cancelled || next == path { throw error }
        note(.bad(next, error.sentence))
      }
    }
    for container in containers { note(.found(container.size)) }
    await withTaskGroup(of: Void.self) { group in
      var left = containers.makeIterator()
      for _ in 0..<Self.width { start(left.next(), in: &group) }
      while await group.next() != nil { start(left.next(), in: &group) }
    }
  }

  /// Reads what is inside a file.
  func file(_ path: FilePath) async throws(FileTreeError) {
    for view in ViewChoice.views {
      let inside = FilePath(path.string + "." + view)
      guard (try? await tree.attributes(of: inside)) != nil else { continue }
      let size = (try? await tree.attributes(of: path).size) ?? 0
      note(.found(size))
      await container(inside)
      return note(.finished(size))
    }
    throw FileTreeError(.unsupported, path: path, reason: "is not an archive, a mailbox or a compressed file")
  }

  private func start(_ next: (view: FilePath, size: Int64)?, in group: inout TaskGroup<Void>) {
    guard let next else { return }
    group.addTask {
      await container(next.view)
      note(.finished(next.size))
    }
  }

  /// Reads all files of a view.
  private func container(_ view: FilePath) async {
    var folders = [view]
    while let path = folders.popLast() {
      do throws(FileTreeError) {
        var choice = ViewChoice()
        for try await entry in tree.entries(of: path, details: false) {
          let isWanted = choice.isWanted(entry)
          if isWanted || entry.view == nil && entry.kind == .directory {
            folders.append(entry.path)
          } else if entry.view == nil, entry.kind == .file, await !isSound(entry.path) {
            // A view of a file that cannot be read itself says nothing new.
            choice.hasView = true
          }
        }
        // The faults of files have been noted one by one.
        if ViewChoice.views.contains(path.lastComponent?.extension ?? "") { await noteState(of: path) }
      } catch {
        note(.bad(path, error.sentence))
      }
    }
  }

  private func isSound(_ path: FilePath) async -> Bool {
    do throws(FileTreeError) {
      note(.file(try await tree.verify(path) { note(.read($0)) }))
      return true
    } catch {
      note(.bad(path, error.sentence))
      return false
    }
  }

  /// Notes what is wrong with a container as a whole, such as a lost end.
  private func noteState(of view: FilePath) async {
    guard let attributes = try? await tree.attributes(of: view), attributes.state == .failed else { return }
    note(.bad(view, attributes.error ?? "cannot be read whole"))
  }
}

/// Chooses the first view of each file in a listing by which its inside can be read.
private struct ViewChoice {
  /// The size of the file that the views are of, in bytes.
  private(set) var size: Int64 = 0
  /// Whether no other view of that file is wanted.
  var hasView = false

  static let views = ["contents", "messages"]

  mutating func isWanted(_ entry: FileTree.Entry) -> Bool {
    guard let view = entry.view else {
      (size, hasView) = (entry.kind == .file ? entry.size : 0, false)
      return false
    }
    guard !hasView, entry.kind == .directory, Self.views.contains(view) else { return false }
    hasView = true
    return true
  }
}
