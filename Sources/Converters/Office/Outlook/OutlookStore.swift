internal import Bytes
public import Catalogue
internal import PersonalFolders
public import WorkerKit

/// An Outlook file with folders of messages (`.pst`, `.ost`).
public final class OutlookStore {
  private let file: StoreFile

  /// The maximum number of messages that are listed.
  private static let most = 1 << 24

  public init(_ input: JobInput) throws(JobFailure) {
    do throws(Fault) { file = try StoreFile(MappedSource(input)) } catch { throw JobFailure(error) }
  }

  // MARK: The list

  /// Writes `MailRecord`s and reports them as they become readable.
  public func list(to output: JobOutput) throws(JobFailure) {
    let folders = StoreFolders(file)
    // Includes messages that no folder lists, which Outlook left behind or removed.
    let all = (try? file.nodes(ofKind: StoreNode.Kind.message, atMost: Self.most)) ?? []
    var list = StoreList(output, expected: all.count, try? StoreNames(file))
    for folder in folders.folders {
      for number in folder.messages {
        try list.add(file, number, in: folder.path, isHidden: folder.isHidden)
      }
    }
    for (number, parent) in all {
      try list.add(file, number, in: folders.paths[parent] ?? "", isHidden: true, isOrphan: true)
    }
    try list.finish(lostFolders: folders.lost)
  }

  // MARK: Files

  /// Writes a file attached to a message.
  public func write(_ address: MailFileAddress, to output: JobOutput) throws(JobFailure) {
    let content: Content?
    do throws(Fault) { content = try self.content(at: address) } catch { throw JobFailure(error) }
    switch content {
    case .bytes(let bytes): try unsafe output.write(bytes.span.bytes)
    case .data(let data):
      let fault = try data.forEachPiece { piece throws(JobFailure) in try unsafe output.write(piece.span.bytes) }
      if let fault { throw JobFailure(fault) }
    case nil: throw JobFailure(.damaged, "has no attachment \(address)")
    }
  }

  private enum Content {
    case bytes([UInt8])
    case data(StoreData)
  }

  private func content(at address: MailFileAddress) throws(Fault) -> Content? {
    var message = try file.node(address.message)
    for step in address.path.dropLast() {
      guard let node = message, let list = try Self.attachment(step, of: node),
        case .message(let inner) = AttachedItem(list)
      else { return nil }
      message = inner
    }
    guard let node = message, let last = address.path.last, let list = try Self.attachment(last, of: node) else {
      return nil
    }
    if let data = try list.data(0x3701) { return .data(data) }
    return try list.value(0x3701, atMost: 1 << 16).map { .bytes($0.bytes) }
  }

  private static func attachment(_ index: UInt32, of node: StoreNode) throws(Fault) -> PropertyList? {
    let nodes = try PropertyList(node).attachments
    return index < nodes.count ? try PropertyList(nodes[Int(index)]) : nil
  }
}
