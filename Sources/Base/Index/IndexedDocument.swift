/// A document to be indexed: a file, a page, a message, an entry of an archive.
public struct IndexedDocument: Sendable {
  /// The path below the source's own path, such as `.contents/a/b.txt`. Empty for the source itself.
  public var path: [UInt8]
  /// The number of its kind.
  public var kind: UInt8
  /// The date, in seconds since 1970. `nil` if it has none.
  public var date: Int64?
  /// The day of the date in the zone of its author, in days since 1970. `nil` if it is that of the local zone.
  public var day: Int32?
  /// The size, in bytes. `nil` if it is unknown.
  public var size: Int64?
  /// Whether its content needs a password.
  public var isLocked = false
  /// Whether a mail program has marked the message as deleted.
  public var isDeleted = false
  /// The labels of a message, in UTF-8.
  public var labels: [[UInt8]] = []
  /// The title, in UTF-8. Empty if the name is the title.
  public var title: [UInt8] = []
  /// The sender for display, in UTF-8. Empty if there is none.
  public var people: [UInt8] = []
  /// The extension of the name, in lower case.
  public var fileExtension: [UInt8] = []
  /// The declared language, as a tag in lower case such as `de-at`. Empty if there is none.
  public var language: [UInt8] = []
  /// The identifier of its bytes, by which an unchanged one is recognized. 0 if unknown.
  public var content: UInt64 = 0
  /// The text to store, in UTF-8, with a form feed before that of each part after the first. `nil` if it can be read
  /// from the source at any time.
  public var text: [UInt8]?
  /// The words of the columns of `columns`, as the tokenizer expects them, and those of the text. Any may be empty.
  public var words: [[UInt8]]
  public var body: [UInt8] = []
  /// The number of documents after this one that are its parts: the pages of a document, the attachments of a message.
  public var parts = 0

  public static let columns = ["title", "name", "sender", "recipients"]

  public init(path: [UInt8], kind: UInt8, date: Int64?, size: Int64?, words: [[UInt8]]) {
    self.path = path
    self.kind = kind
    self.date = date
    self.size = size
    self.words = words
  }

  /// The approximate memory that it takes, in bytes.
  public var cost: Int {
    256 + path.count + title.count + (text?.count ?? 0) + body.count + (words + labels).reduce(0) { $0 + $1.count }
  }
}

/// The parts of a document that stand before its text.
public struct DocumentHead: Sendable {
  /// The last name of its path.
  public let name: [UInt8]
  /// The title and the sender, in UTF-8. Empty if there is none.
  public let title: [UInt8]
  public let people: [UInt8]
}

/// A real file or folder whose documents are indexed.
public struct DocumentSource: Sendable {
  /// The state of a file, by which a changed one is recognized.
  public struct State: Sendable, Equatable {
    public var size: Int64
    /// The times of the last change of bytes and of attributes, in nanoseconds since 1970, modulo 2^64.
    public var modified: Int64
    public var changed: Int64
    public var inode: Int64

    public init(size: Int64, modified: Int64, changed: Int64, inode: Int64) {
      (self.size, self.modified, self.changed, self.inode) = (size, modified, changed, inode)
    }
  }

  /// A kind of source.
  public enum Kind: UInt8, Sendable {
    case file = 0
    case folder = 1
    /// A file that contains other documents, such as an archive or a mailbox.
    case container = 2
  }

  public let id: Int64
  /// The path below the indexed folder.
  public let path: [UInt8]
  public let state: State
  /// Whether all its documents are indexed.
  public let isDone: Bool
  public let kind: Kind
  /// Identifies the programs with which it was read, if others that were not installed may find more. 0 if it has all
  /// documents.
  public let programs: Int64
}

/// A document of a source that is indexed already.
public struct KnownDocument: Sendable {
  public let id: Int64
  public let kind: UInt8
  /// The identifier of its bytes. 0 if unknown.
  public let content: UInt64
  /// The number of its parts.
  public let parts: Int
}

/// A document found.
public struct FoundDocument: Sendable {
  /// The number in its index.
  public internal(set) var id: UInt64
  /// The path of its source below the indexed folder.
  public let source: [UInt8]
  /// The state of the source in which it was indexed.
  public let state: DocumentSource.State
  /// Its own path below that of the source.
  public let path: [UInt8]
  public let kind: UInt8
  public let date: Int64?
  public let day: Int32?
  public let size: Int64?
  public let title: [UInt8]
  public let people: [UInt8]
  /// The number of its parts.
  public let parts: Int
  /// The size of the words of its text, in bytes.
  public let length: Int

  public var rank: DocumentRank { DocumentRank(date: date, length: length) }

  /// The start of a path that is below the folder of the source, such as that of a film beside its subtitles.
  public static let beside = Array("/".utf8)

  /// The whole path below the indexed folder.
  public var wholePath: [UInt8] {
    guard path.starts(with: Self.beside) else { return source + path }
    let folder = source[..<(source.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0)]
    return Array(folder + path.dropFirst())
  }
}
