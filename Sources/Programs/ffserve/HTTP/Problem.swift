import Assembly
import Bytes
import Glibc
import NIOHTTP1
import Tree

/// An error as RFC 9457 has it.
struct Problem: Encodable, Sendable {
  var type = "about:blank"
  let title: String
  let status: Int
  /// What went wrong, in one sentence: that of `user.ffmount.error` where a file is at fault.
  var detail: String?
  /// The path that was asked for.
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
      .bytes(JSONText.bytes(of: problem)))
  }

  /// The answer when the tree fails: no path of this machine is in it.
  static func problem(_ fault: Fault, instance: String? = nil) -> Response {
    problem(fault.httpStatus, fault.sentence, instance: instance)
  }
}

extension Fault {
  /// The status for a failure; the only such conversion.
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

  /// For people: the reason where there is one, or what the system calls the error.
  var sentence: String {
    if case .system(let code) = kind, reason.isEmpty || !reason.contains(" ") { return describe(code) }
    return description
  }
}
