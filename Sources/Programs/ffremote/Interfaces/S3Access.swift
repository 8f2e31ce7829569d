import Assembly
import Bytes
import Glibc
import ServerAnswers
import Text

/// A bucket of S3, and the credentials for it.
struct S3Access: Sendable {
  let bucket: String
  /// The part of the keys after the bucket in the address.
  let key: [UInt8]
  let region: String
  /// The URL of the bucket, without a trailing slash.
  let base: String
  /// Nil for anonymous requests.
  let credentials: AWSSettings.Credentials?
  /// Whether the server is that of AWS.
  let isOfAWS: Bool
  /// The bucket and its server, without the region, which is not known at first.
  let place: String

  /// - Throws: a refusal of an address or of settings that cannot be used.
  init(_ address: String, _ options: ServerAccess, region found: String? = nil) throws {
    func refusal(_ reason: String) -> Refusal { Refusal(.usage, "cannot show \(address): \(reason)") }
    let rest = address.dropFirst("s3://".count)
    bucket = String(rest.prefix { $0 != "/" })
    key = Array(rest.dropFirst(bucket.count + 1).utf8)
    let isName = bucket.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
        || "-._".utf8.contains(byte)
    }
    guard isName, (3...255).contains(bucket.utf8.count), !bucket.hasPrefix(".") else {
      throw refusal("'\(bucket)' is not the name of a bucket, as in s3://BUCKET/FOLDER/")
    }
    let parts = key.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard key.count <= 1024, parts.dropLast().allSatisfy({ !$0.isEmpty }),
      !parts.contains(where: { $0.elementsEqual("..".utf8) || $0.elementsEqual(".".utf8) })
    else { throw refusal("the path is not one of names (leave out //, /./ and /../)") }

    let settings = try Self.settings(refusal)
    region = found ?? options.region ?? settings.region ?? "us-east-1"
    guard BucketError.region(region) != nil else { throw refusal("'\(region)' is not the name of a region") }
    credentials = options.isAnonymous ? nil : settings.credentials
    guard credentials.map({ Self.isText($0.key) && Self.isText($0.secret) && Self.isText($0.session ?? "") }) ?? true
    else { throw refusal("the credentials contain blanks or other bytes that keys do not have") }
    let endpoint = options.endpoint ?? settings.endpoint
    isOfAWS = endpoint == nil
    place = "s3://\(bucket)@\(endpoint ?? "aws")"
    // A certificate of *.s3.REGION.amazonaws.com is not one for a name with more dots.
    let isHost = bucket.utf8.allSatisfy { byte in
      (0x30...0x39).contains(byte) || (0x61...0x7a).contains(byte) || byte == UInt8(ascii: "-")
    }
    let hasBucketInPath = options.hasBucketInPath ?? settings.hasBucketInPath ?? (endpoint != nil || !isHost)
    guard hasBucketInPath || isHost else {
      throw refusal("the bucket cannot be a part of a host (leave out -o bucket=)")
    }
    let server: ServerAddress
    do { server = try ServerAddress(endpoint ?? "https://s3.\(region).amazonaws.com") } catch {
      throw refusal("the endpoint '\(endpoint ?? "")' is not an address as in https://s3.example.org:9000")
    }
    if hasBucketInPath {
      base = "\(server.text)/\(bucket)"
    } else {
      let scheme = server.isTLS ? "https://" : "http://"
      base = scheme + bucket + "." + server.text.dropFirst(scheme.count)
    }
  }

  private static func isText(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } }

  private static func settings(_ refusal: (String) -> Refusal) throws -> AWSSettings {
    let variable = { (name: String) -> String? in
      guard let value = unsafe getenv(name) else { return nil }
      let text = unsafe String(cString: value)
      return text.isEmpty ? nil : text
    }
    do throws(AWSSettings.Failure) {
      return try AWSSettings(variable: variable) { path in Self.content(of: path) }
    } catch {
      switch error {
      case .noProfile(let name):
        throw refusal("the profile \(name) is in neither ~/.aws/credentials nor ~/.aws/config (check AWS_PROFILE)")
      case .incomplete(let name): throw refusal("the profile \(name) has no aws_secret_access_key")
      case .unsupported(let name, let setting):
        let command = "aws configure export-credentials --profile \(name) --format env"
        throw refusal("the profile \(name) gets its credentials by \(setting) (give them by: eval \"$(\(command))\")")
      }
    }
  }

  private static func content(of path: String) -> [UInt8]? {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count < 1 << 20 {
      let count = unsafe read(file, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  /// The settings of the requests for the bucket, or for the object of the address.
  func settings(_ options: ServerAccess, isObject: Bool) -> WireSettings {
    var settings = WireSettings(
      base: base + (isObject ? "/" + WebServer.encoded(key) : ""), authorities: options.authorities)
    settings.signing = credentials.map { WireSettings.Signing(credentials: $0, region: region) }
    return settings
  }

  /// S3 has no If-Range.
  static func condition(_ tag: String) -> String { "If-Match: \(tag)" }

  /// The advice for a server that refuses access.
  private var advice: String {
    credentials == nil
      ? "no credentials found: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
      : "check the permissions of the access key for s3:ListBucket and s3:GetObject"
  }

  /// Returns the fault of an unsuccessful response.
  func fault(_ answer: RepeatedRequest.Answer, of address: String) -> Fault? {
    let status = answer.head.status
    guard status >= 300, status != 304 else { return nil }
    let error = BucketError(answer.body)
    switch error?.code {
    case "NoSuchKey": return Fault(.system(ENOENT))
    case "NoSuchBucket":
      return Fault(.system(ENOENT), "the server has no bucket \(bucket) (check the name, and the endpoint)")
    case "InvalidAccessKeyId", "SignatureDoesNotMatch", "AuthorizationHeaderMalformed", "InvalidToken",
      "InvalidSecurity":
      return Fault(.system(EACCES), "the server does not accept the credentials: \(error?.message ?? "")")
    case "ExpiredToken":
      return Fault(.system(EACCES), "the credentials have expired (renew them, and remount)")
    case "RequestTimeTooSkewed":
      return Fault(.system(EACCES), "the clock of this machine differs from the server's (set it)")
    case "InvalidObjectState":
      return Fault(.system(EACCES), "the object is in an archive of the server (restore it there first)")
    default: break
    }
    if status == 301 || status == 307 {
      return Fault(.system(EIO), "the bucket is elsewhere (give its region: -o region=NAME, or its -o endpoint=URL)")
    }
    if status == 401 || status == 403 {
      let said = error.map { ": \($0.code)" } ?? ""
      return Fault(.system(EACCES), "the server refuses access to \(address)\(said) (\(advice))")
    }
    guard let error, status != 404, status != 412, status != 416 else { return nil }
    return Fault(.system(EIO), "the server answered with \(status): \(error.code), \(error.message)")
  }

  /// Returns the region of the bucket, if a response says that the request was for another one.
  func otherRegion(_ answer: RepeatedRequest.Answer) -> String? {
    guard isOfAWS, [301, 307, 400, 403].contains(answer.head.status) else { return nil }
    let found = answer.head.region ?? BucketError(answer.body)?.region
    return found == region ? nil : found
  }
}
