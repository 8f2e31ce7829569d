internal import Bytes

/// The access to an S3 server, from the environment and the files that the programs of AWS read.
package struct AWSSettings: Sendable, Equatable {
  package struct Credentials: Sendable, Equatable {
    package var key: String
    package var secret: String
    /// The token of temporary credentials.
    package var session: String?

    package init(key: String, secret: String, session: String? = nil) {
      (self.key, self.secret, self.session) = (key, secret, session)
    }
  }

  /// Nil if there are none: requests are then anonymous.
  package var credentials: Credentials?
  package var region: String?
  /// The URL of a server other than that of AWS, without a trailing slash.
  package var endpoint: String?
  /// Whether the bucket is a part of the path, or one of the host. Nil if that is not set.
  package var hasBucketInPath: Bool?

  package enum Failure: Error, Equatable {
    case noProfile(String)
    /// The profile gets its credentials in a manner that is not supported. The value is the setting.
    case unsupported(profile: String, setting: String)
    case incomplete(profile: String)
  }

  /// Settings that would need another program or service.
  private static let unsupported = [
    "role_arn", "credential_process", "sso_session", "sso_start_url", "web_identity_token_file", "login_session",
  ]

  /// Reads the settings.
  ///
  /// - Parameters:
  ///   - variable: returns a variable of the environment. Returns `nil` if it is not set, or empty.
  ///   - file: returns the content of a file. Returns `nil` if it cannot be read.
  package init(variable: (String) -> String?, file: (String) -> [UInt8]?) throws(Failure) {
    let home = variable("HOME").map { $0 + "/.aws/" } ?? ""
    let shared = Self.sections(file(variable("AWS_SHARED_CREDENTIALS_FILE") ?? home + "credentials") ?? [])
    let config = Self.sections(file(variable("AWS_CONFIG_FILE") ?? home + "config") ?? [])
    let given = variable("AWS_PROFILE") ?? variable("AWS_DEFAULT_PROFILE")
    let profile = given ?? "default"
    let own = config["profile " + profile] ?? (profile == "default" ? config[profile] : nil)
    let secret = shared[profile]
    if given != nil, own == nil, secret == nil { throw .noProfile(profile) }

    func setting(_ name: String) -> String? { secret?[name] ?? own?[name] }
    region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? own?["region"]
    let service = (own?["services"]).flatMap { config["services " + $0] }
    endpoint =
      variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL") ?? service?["s3.endpoint_url"]
      ?? own?["endpoint_url"]
    switch own?["s3.addressing_style"] {
    case "path": hasBucketInPath = true
    case "virtual": hasBucketInPath = false
    default: break
    }
    if let key = variable("AWS_ACCESS_KEY_ID"), let secret = variable("AWS_SECRET_ACCESS_KEY") {
      credentials = Credentials(key: key, secret: secret, session: variable("AWS_SESSION_TOKEN"))
    } else if let key = setting("aws_access_key_id") {
      guard let secret = setting("aws_secret_access_key") else { throw .incomplete(profile: profile) }
      credentials = Credentials(key: key, secret: secret, session: setting("aws_session_token"))
    } else if let name = Self.unsupported.first(where: { setting($0) != nil }) {
      throw .unsupported(profile: profile, setting: name)
    }
  }

  /// Returns the settings of each section. Those that are nested below `s3 =` are named `s3.NAME`.
  static func sections(_ bytes: [UInt8]) -> [String: [String: String]] {
    var sections: [String: [String: String]] = [:]
    var section: String?
    var outer = ""
    for line in bytes.prefix(1 << 20).split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
      let text = String(decoding: line, as: UTF8.self)
      let isNested = text.hasPrefix(" ") || text.hasPrefix("\t")
      let words = trimmed(text[...])
      if words.isEmpty || words.hasPrefix("#") || words.hasPrefix(";") { continue }
      if words.hasPrefix("["), let end = words.firstIndex(of: "]") {
        section = words[..<end].dropFirst().split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
        outer = ""
        continue
      }
      guard let section, let mark = words.firstIndex(of: "=") else { continue }
      let name = trimmed(words[..<mark]).lowercased()
      let value = trimmed(words[words.index(after: mark)...])
      if !isNested { outer = value.isEmpty ? name + "." : "" }
      if !value.isEmpty { sections[section, default: [:]][(isNested ? outer : "") + name] = String(value) }
    }
    return sections
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return text
  }
}
