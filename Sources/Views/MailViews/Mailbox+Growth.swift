internal import Bytes
internal import Mail
internal import Threads
internal import Tree

/// Recognition of mailboxes that have grown by appending.
extension Mailbox {
  /// The hash of the whole file. Nil until all messages have been found.
  var hash: MailboxDirectory.Hash? { progress.read { $0.directory.isWhole ? $0.directory.hash : nil } }

  /// Returns whether this mailbox has grown by appending only, from a state with a packed hash and `count` messages.
  /// Reads the file up to its earlier size. Blocks.
  func hasGrown(from packed: [UInt8], _ count: Int) throws(Fault) -> Bool {
    let hasGrown = try unlessDelayed { () throws(Fault) in
      // If the last earlier message ends past the earlier size, that message itself has grown.
      guard let hash = MailboxDirectory.Hash(packed: packed), let now = self.hash, hash.size < now.size,
        try count < self.count(.blocking), let last = try row(at: count - 1, .blocking), last.end <= hash.size
      else { return false }
      return try isStart(hash, of: open().bytes)
    }
    return hasGrown ?? false
  }

  /// Returns whether the start of the file is unchanged. Blocks.
  private func isStart(_ hash: MailboxDirectory.Hash, of bytes: any ByteSource) throws(Fault) -> Bool {
    let hashed = HashedSource(bytes)
    try hashed.reach(hash.size)
    return hashed.hash == hash
  }
}
