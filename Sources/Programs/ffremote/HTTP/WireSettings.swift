import Assembly
import CCurl
import ServerAnswers

/// The settings that all requests share.
struct WireSettings: Sendable {
  /// The server's address, without a trailing slash.
  var base: String
  /// The certificate authorities in PEM. Nil for those of the system.
  var authorities: String?
  /// Whether redirections are followed.
  var followsRedirections = false
  /// Whether the server gets a password from ~/.netrc.
  var usesPasswordFile = false
  /// How requests are signed for S3. Nil if they are not.
  var signing: Signing?

  struct Signing: Sendable {
    var credentials: AWSSettings.Credentials
    var region: String

    /// The headers that are sent, and signed, besides those of the signature.
    var headers: [String] {
      [Self.hashOfNothing] + (credentials.session.map { ["x-amz-security-token: \($0)"] } ?? [])
    }

    /// The SHA-256 of an empty body, as all requests have here.
    private static let hashOfNothing =
      "x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    func apply(to easy: UnsafeMutableRawPointer) {
      _ = unsafe ffmount_curl_set_text(easy, CURLOPT_AWS_SIGV4, "aws:amz:\(region):s3")
      _ = unsafe ffmount_curl_set_text(easy, CURLOPT_USERNAME, credentials.key)
      _ = unsafe ffmount_curl_set_text(easy, CURLOPT_PASSWORD, credentials.secret)
    }
  }

  /// The time limit for a connection, in milliseconds.
  private static let connectTime = 5000
  /// The size of libcurl's receive buffer, in bytes.
  private static let bufferSize = 512 << 10

  /// Applies the settings. Requests go only to the server's address: proxies and other protocols are disabled, and
  /// libcurl does not follow redirections by itself.
  func apply(to easy: UnsafeMutableRawPointer) {
    func set(_ option: CURLoption, _ value: Int) { _ = unsafe ffmount_curl_set(easy, option, value) }
    func set(_ option: CURLoption, _ value: String) { _ = unsafe ffmount_curl_set_text(easy, option, value) }
    set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_PROXY, "")
    // Newer versions of libcurl do not sign such a path. Those of S3 have no `.` and `..` that could be removed.
    set(CURLOPT_PATH_AS_IS, signing == nil ? 1 : 0)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Self.connectTime)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_TCP_KEEPIDLE, 10)
    set(CURLOPT_TCP_KEEPINTVL, 5)
    set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    set(CURLOPT_SSL_VERIFYPEER, 1)
    set(CURLOPT_SSL_VERIFYHOST, 2)
    set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    set(CURLOPT_USERAGENT, Version.text.replacing(" ", with: "/"))
    if let authorities {
      set(CURLOPT_CAINFO, authorities)
      _ = unsafe ffmount_curl_set_text(easy, CURLOPT_CAPATH, nil)
    }
  }
}
