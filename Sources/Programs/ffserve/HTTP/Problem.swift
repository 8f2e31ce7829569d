import Assembly
import Bytes
import Glibc
import NIOHTTP1
import Tree

extension Response {
  /// Returns a response with an error (RFC 9457). `detail` is the reason, in one sentence; for an error of a file, that
  /// of `user.ffmount.error`. `instance` is the requested path.
  static func problem(
    _ status: HTTPResponseStatus, _ detail: String? = nil, instance: String? = nil,
    headers: [(name: String, value: String)] = []
  ) -> Response {
    var problem: JSON = [
      "type": "about:blank", "title": .string(status.reasonPhrase), "status": .number(Int64(status.code)),
    ]
    problem.add("detail", detail)
    problem.add("instance", instance)
    return Response(
      status, headers: [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"), inert] + headers,
      .bytes(problem.bytes))
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
      case ENOENT, ENOTDIR, ESTALE, ENXIO: .notFound
      case EACCES, EPERM, ELOOP, EROFS: .forbidden
      case EEXIST, ENOTEMPTY, EBUSY: .conflict
      case ENAMETOOLONG: .uriTooLong
      case EFBIG: .payloadTooLarge
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
    if kind == .system(ENAMETOOLONG) { return "a name is longer than 255 bytes, or the path than 4,096" }
    if case .system(let code) = kind, reason.isEmpty || !reason.contains(" ") { return describe(code) }
    return description
  }
}
