import Bytes
import Text
import Tree

/// The response to a PROPFIND (RFC 4918, section 13).
struct MultiStatus {
  private let asked: AskedProperties
  private var text: [UInt8]

  /// The maximum size, in bytes.
  static let longest = 128 << 20

  var count: Int { text.count }

  private static let start = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"

  init(_ asked: AskedProperties) {
    self.asked = asked
    text = Array((Self.start + "<D:multistatus xmlns:D=\"DAV:\">\n").utf8)
  }

  var finished: [UInt8] { text + Array("</D:multistatus>\n".utf8) }

  static let finiteDepth = Array(
    (start + "<D:error xmlns:D=\"DAV:\"><D:propfind-finite-depth/></D:error>\n").utf8)

  /// - Parameter type: the media type. Nil for a directory.
  mutating func add(href: String, name: String, _ attributes: Attributes, type: String?) {
    var properties: [(name: String, value: String)] = [
      ("resourcetype", type == nil ? "<D:collection/>" : ""), ("displayname", Self.escaped(name)),
      ("getlastmodified", HTTPDate.text(attributes.modified)), ("creationdate", HTTPDate.iso(attributes.modified)),
    ]
    if let type {
      properties.append(("getcontenttype", Self.escaped(type)))
      // An inexact size would truncate the file, or leave a client waiting.
      if !attributes.isPreliminary { properties.append(("getcontentlength", String(attributes.size))) }
    }
    append("<D:response><D:href>\(href)</D:href>")
    switch asked {
    case .all: propstat("200 OK", properties.map { "<D:\($0.name)>\($0.value)</D:\($0.name)>" })
    case .names: propstat("200 OK", properties.map { "<D:\($0.name)/>" })
    case .some(let wanted):
      var found: [String] = []
      var missing: [String] = []
      for property in wanted {
        if property.space == "DAV:", let known = properties.first(where: { $0.name == property.name }) {
          found.append("<D:\(known.name)>\(known.value)</D:\(known.name)>")
        } else {
          missing.append("<\(property.name) xmlns=\"\(Self.escaped(property.space))\"/>")
        }
      }
      if !found.isEmpty || missing.isEmpty { propstat("200 OK", found) }
      if !missing.isEmpty { propstat("404 Not Found", missing) }
    }
    append("</D:response>\n")
  }

  private mutating func propstat(_ status: String, _ properties: [String]) {
    append("<D:propstat><D:prop>\(properties.joined())</D:prop><D:status>HTTP/1.1 \(status)</D:status></D:propstat>")
  }

  private mutating func append(_ string: String) { text.append(contentsOf: string.utf8) }

  /// Escapes text for an element or attribute. Control characters, which XML cannot represent, become question marks.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\"": result += "&quot;"
      case "\u{0}"..."\u{1f}", "\u{fffe}", "\u{ffff}": result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
