import Assembly
import Bytes
import Glibc
import NIOHTTP1
import Tree

/// An error according to RFC 9457.
struct Problem: Encodable, Sendable {
  var type = "about:blank"
  let title: String
  let status: Int
  /// The reason, in one sentence. For an error of a file, that of `user.ffmount.error`.
  var detail: String?
  /// The requested path.
  var instance: String?
}

extension Response {
  static func problem(
    _ status: HTTPResponseStatus, _ detail: String? = nil, instance: String? = nil,
    headers: [(name: String, value: String)] = []
  ) -> Response {
    let problem = Problem(
      title: status.reasonPhrase, status: Int(status.code), detail: detail, instance: instance)
    return Response(
      status, headers: [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"), inert] + headers,
      .bytes(JSONWriter.bytes(of: problem)))
  }

  /// Returns the response for an error of the tree. It contains no path of this machine.
  static func problem(_ fault: Fault, instance: String? = nil) -> Response {
    problem(fault.httpStatus, fault.sentence, instance: instance)
  }
}

extension Fault {
  /// The status for an error. This is the only such conversion.
  var httpStatus: HTTPResponseStatus {
    switch kind {
    case .system(let code):
      switch code {
      case ENOENT, ENOTDIR, ENAMETOOLONG, ESTALE, ENXIO: .notFound
      case EACCES, EPERM, ELOOP: .forbidden
      case EISDIR, EINVAL: .badRequest
      case ENOSPC, EDQUOT: .insufficientStorage
      case EMFILE, ENFILE, ENOMEM, EAGAIN, ENODEV: .serviceUnavailable
      case ETIMEDOUT: .gatewayTimeout
      default: .internalServerError
      }
    case .locked: .forbidden
    case .damaged, .unsupported, .limit: .unprocessableEntity
    case .changed, .interrupted, .later, .pending: .serviceUnavailable
    }
  }

  /// The reason for users, or the system's description of the error.
  var sentence: String {
    if case .system(let code) = kind, reason.isEmpty || !reason.contains(" ") { return describe(code) }
    return description
  }
}
