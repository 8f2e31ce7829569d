/// The responses of the API, encoded by `Codable`. Members that are nil are null, except rare ones, which are left out.

/// The type of a file or directory in the API.
enum ItemKind: String, Encodable {
  case directory
  case file
  /// A symbolic link that is dangling or leads out of the tree, or a special file.
  case other
}

/// The response of `/api/stat`.
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
  /// The state `exact`, `estimate`, `unverified` or `failed`, as in `user.ffmount.state`.
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

/// The response of `/api/view`.
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
  /// The text, in UTF-8.
  var content: String?
  /// Whether `content` is truncated.
  var isCut: Bool?
  /// The language of a text for highlighting: `swift`, `json`.
  var language: String?
  let mimeType: String
  /// The dimensions of an image, according to its header.
  var dimensions: Dimensions?
  let size: Int64?
  /// The URL of the bytes.
  let url: String
}

/// The response of `/api/views`.
struct ViewsAnswer: Encodable, Sendable {
  struct View: Encodable, Sendable {
    let name: String
    let path: String
    let type: ItemKind
    let view: String?
    let mimeType: String?
    /// Whether listings show the view.
    let isListed: Bool
    let encodedPath: String?
  }

  let path: String
  let views: [View]
}

/// The response of `/api/search`.
struct SearchAnswer: Encodable, Sendable {
  struct Hit: Encodable, Sendable {
    let name: String
    let path: String
    let type: ItemKind
    let fileExtension: String?
    let absolutePath: String
    /// The percent-encoded path, if it is not UTF-8.
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
  /// Whether everything was searched.
  let isComplete: Bool
}
