import Assembly
import Glibc
import Locks
import NIOSSL

/// The TLS settings of new connections: a certificate chain and its key, which can be replaced while the server runs.
final class Certificates: Sendable {
  private let files: [String]
  private let state = UnfairLock<NIOSSLContext?>(nil)

  /// - Parameter files: the paths of `--tls`.
  init(_ files: [String]) { self.files = files }

  /// The settings for a new connection. Nil before `read`.
  var context: NIOSSLContext? { state.withLock { $0 } }

  /// Reads the files. Throws if they are unusable. Blocks.
  func read() throws {
    for file in files where unsafe access(file, R_OK) != 0 {
      throw Refusal(.usage, "--tls \(file): \(describe(errno)) (check the path and its permissions)")
    }
    do {
      let chain = try NIOSSLCertificate.fromPEMFile(files[0]).map { NIOSSLCertificateSource.certificate($0) }
      let key = try NIOSSLPrivateKey(file: files[1], format: .pem)
      var configuration = TLSConfiguration.makeServerConfiguration(
        certificateChain: chain, privateKey: .privateKey(key))
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["h2", "http/1.1"]
      let context = try NIOSSLContext(configuration: configuration)
      state.withLock { $0 = context }
    } catch {
      throw Refusal(
        .usage,
        "--tls: \(files[0]) and \(files[1]) are not a certificate chain and its key, without a passphrase, in PEM "
          + "(see what they are with: openssl x509 -in \(files[0]); openssl pkey -in \(files[1]))")
    }
  }
}
