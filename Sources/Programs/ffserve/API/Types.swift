/// What the API answers with; `Codable` makes their JSON. Members that are nil are null, those that few have are left
/// out.

/// What the API says that a file or folder is.
enum ItemKind: String, Encodable {
  case directory
  case file
  /// A symbolic link that leads nowhere, or out of what is shown, and what is neither file nor folder.
  case other
}

/// `/api/stat`.
struct StatAnswer: Encodable, Sendable {
  let path: String
  let name: String
  let type: ItemKind
  let size: Int64?
  let estimate: Int64?
  let modified: String
  let fileExtension: String?
  let absolutePath: String
  let mimeType: String?
  /// `exact`, `estimate`, `unverified` or `failed`, as `user.ffmount.state` has it.
  let state: String
  let view: String?
  let source: String?
  /// The sentence of `user.ffmount.error`.
  let error: String?
  /// The sentences of `user.ffmount.remark` and `user.ffmount.also`.
  let remark: String?
  let also: String?
  let encodedPath: String?
  let link: String?
  let encodedLink: String?
  let linkModified: String?
  let special: String?

  enum CodingKeys: String, CodingKey {
    case path, name, type, size, estimate, modified
    case fileExtension = "extension"
    case absolutePath, mimeType, state, view
    case source, error, remark, also, encodedPath, link, encodedLink, linkModified, special
  }
}

/// `/api/view`.
struct ViewAnswer: Encodable, Sendable {
  enum Kind: String, Encodable {
    case text, markdown, image, binary
  }

  struct Dimensions: Encodable, Sendable {
    let width: Int
    let height: Int
  }

  let path: String
  let name: String
  var type: Kind
  /// Of text: what it says, in UTF-8.
  var content: String?
  /// Whether that is only its beginning.
  var isCut: Bool?
  /// Of text, for highlighting: `swift`, `json`.
  var language: String?
  let mimeType: String
  /// Of an image, as its head says.
  var dimensions: Dimensions?
  let size: Int64?
  /// Where the bytes are.
  let url: String
}

/// `/api/views`.
struct ViewsAnswer: Encodable, Sendable {
  struct View: Encodable, Sendable {
    let name: String
    let path: String
    let type: ItemKind
    let view: String?
    let mimeType: String?
    /// Whether a listing shows it.
    let isListed: Bool
    let encodedPath: String?
  }

  let path: String
  let views: [View]
}

/// `/api/search`.
struct SearchAnswer: Encodable, Sendable {
  struct Hit: Encodable, Sendable {
    let name: String
    let path: String
    let type: ItemKind
    let fileExtension: String?
    let absolutePath: String
    /// The path, percent-encoded, if it is not UTF-8.
    let encodedPath: String?

    enum CodingKeys: String, CodingKey {
      case name, path, type
      case fileExtension = "extension"
      case absolutePath, encodedPath
    }
  }

  let query: String
  let path: String
  let results: [Hit]
  /// Whether all was searched.
  let isComplete: Bool
}
