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
  /// Returns the reason why a real file or directory cannot be examined. Returns `nil` for most.
  let hindrance: @Sendable (FilePath) -> String?
  /// Returns the reason why what is in a file cannot be read here, by its name. Returns `nil` for most.
  let lack: @Sendable (FilePath) -> String?
  let note: @Sendable (Event) -> Void

  /// The maximum number of nested archives.
  static let depth = 16
  /// The maximum number of containers read concurrently.
  private static let width = 2

  /// Reads the containers in a directory and its subdirectories.
  func folder(_ path: FilePath) async throws(FileTreeError) {
    var containers: [(view: FilePath, size: Int64)] = []
    var folders = [path]
    while let next = folders.popLast() {
      if let messages = await messages(ofMaildir: next) {
        containers.append((messages, 0))
        continue
      }
      do throws(FileTreeError) {
        for try await entry in tree.entries(of: next) where entry.view == nil {
          guard entry.kind == .directory || entry.kind == .file else { continue }
          if entry.kind == .file, let view = await view(of: entry.path) {
            containers.append((view, entry.size))
          } else if let reason = hindrance(entry.path) ?? (entry.kind == .file ? lack(entry.path) : nil) {
            note(.bad(entry.path, reason))
          } else if entry.kind == .directory {
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

  /// Reads the contents of a file.
  func file(_ path: FilePath) async throws(FileTreeError) {
    guard let view = await view(of: path) else {
      throw FileTreeError(.unsupported, path: path, reason: "not an archive, a mailbox or a compressed file")
    }
    let size = (try? await tree.attributes(of: path).size) ?? 0
    note(.found(size))
    await container(view)
    note(.finished(size))
  }

  private func start(_ next: (view: FilePath, size: Int64)?, in group: inout TaskGroup<Void>) {
    guard let next else { return }
    group.addTask {
      await container(next.view)
      note(.finished(next.size))
    }
  }

  /// The views through which the contents of a file can be read, the preferred one first.
  private static let views = ["contents", messages, message]
  private static let messages = "messages"
  private static let message = "message"
  private static func isOfMessages(_ view: FilePath) -> Bool { [messages, message].contains(view.extension) }

  /// Returns the view of a file's contents, even if it is not listed. As for a lookup, the file's content determines
  /// whether it exists.
  private func view(of path: FilePath) async -> FilePath? {
    for view in Self.views {
      let inside = FilePath(path.string + "." + view)
      if let attributes = try? await tree.attributes(of: inside), attributes.isView { return inside }
    }
    return nil
  }

  /// Returns the view of the messages in a Maildir and its subdirectories. Returns `nil` if the directory is not a
  /// Maildir.
  private func messages(ofMaildir path: FilePath) async -> FilePath? {
    guard !path.isEmpty, path.lastComponent != nil else { return nil }
    for name in ["cur", "tmp"] {
      guard (try? await tree.attributes(of: path.appending(name)))?.kind == .directory else { return nil }
    }
    let inside = FilePath(path.string + "." + Self.messages)
    return (try? await tree.attributes(of: inside))?.isView == true ? inside : nil
  }

  /// Reads all files of a view.
  private func container(_ view: FilePath) async {
    var folders = [(path: view, isOfMessages: Self.isOfMessages(view))]
    while let (path, isOfMessages) = folders.popLast() {
      // The other parts of a message are not containers.
      let canNest = !isOfMessages || path.lastComponent == "attachments"
      do throws(FileTreeError) {
        for try await entry in tree.entries(of: path, details: false) where entry.view == nil {
          if entry.kind == .directory {
            folders.append((entry.path, isOfMessages))
          } else if entry.kind == .symbolicLink {
            await link(entry.path)
          } else if entry.kind == .file, await isSound(entry.path), canNest {
            // An attachment can be read although its end is missing.
            if isOfMessages { await noteState(of: entry.path) }
            if let inside = await self.view(of: entry.path) {
              folders.append((inside, Self.isOfMessages(inside)))
            } else if let reason = lack(entry.path) {
              note(.bad(entry.path, reason))
            }
          }
        }
        // The faults of other directories are those of their files.
        if Self.views.contains(path.lastComponent?.extension ?? "") { await noteState(of: path) }
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

  /// Reports a link whose target cannot be read.
  private func link(_ path: FilePath) async {
    do throws(FileTreeError) { try await tree.verifyLink(path) } catch { note(.bad(path, error.sentence)) }
  }

  /// Reports damage of a file or a container that can be read, such as a missing end.
  private func noteState(of path: FilePath) async {
    guard let attributes = try? await tree.attributes(of: path), attributes.state == .failed else { return }
    note(.bad(path, attributes.error ?? "cannot be read completely"))
  }
}
