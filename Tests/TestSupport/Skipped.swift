internal import Glibc

/// Says on standard error that a part of a test cannot run here, in the words of Swift Testing, for `scripts/test`.
///
/// Swift Testing itself reports a test that is skipped as a whole, but says nothing of a cancelled case of one with
/// arguments, which then counts as passed. `reason` says what is missing; it is returned, for `Test.cancel`.
@discardableResult
public func skipped(_ reason: String) -> String {
  // In one piece: other tests write, too.
  let line = Array("➜ Test case skipped: \"\(reason.split(separator: "\n").joined(separator: " "))\"\n".utf8)
  _ = unsafe line.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
  return reason
}
