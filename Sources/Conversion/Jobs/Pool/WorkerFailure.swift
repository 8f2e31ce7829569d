public import Bytes
internal import Glibc

/// The reason why a worker did not answer.
public enum WorkerFailure: Error, Equatable, Sendable {
  /// The worker could not be started. The value is an errno.
  case absent(Int32)
  /// The worker was ended by a signal.
  case signal(Int32)
  /// The worker exited with a status.
  case exited(Int32)
  /// The worker sent an invalid message.
  case malformedReply
  /// The worker ended before it started the job, as did the one before it.
  case gone
  /// The worker exceeded this processor time, in seconds.
  case time(Int)
  /// The worker exceeded this wall-clock time, in seconds.
  case delay(Int)
  /// The worker exceeded this amount of memory, in bytes.
  case memory(Int64)
  /// The worker was killed because the job was cancelled.
  case cancelled
  /// The input that the worker requested could not be read.
  case input(Fault)
}

extension WorkerFailure {
  /// Whether retrying with the same input would fail again. Failures caused by other processes, by a lack of resources,
  /// or by a failing disk (SIGBUS) need not recur.
  var isLasting: Bool {
    switch self {
    case .absent, .cancelled, .gone, .delay, .input: false
    case .signal(let signal): ![SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGBUS].contains(signal)
    case .exited(let status): status != Self.unavailable
    case .malformedReply, .time, .memory: true
    }
  }

  /// The exit status of a worker that finds something missing when it starts (<sysexits.h>).
  private static let unavailable: Int32 = 69

  var fault: Fault {
    switch self {
    case .absent(let code):
      // A lack of resources is reported as such.
      Fault(
        [EMFILE, ENFILE, ENOMEM, EAGAIN].contains(code) ? .system(code) : .unsupported,
        "the converter could not be started: \(unsafe String(cString: strerror(code)))")
    case .signal(let signal):
      Fault(
        .unsupported,
        "the converter \(isLasting || signal == SIGBUS ? "crashed" : "was killed") (\(Self.name(ofSignal: signal)))")
    case .exited(let status): Fault(.unsupported, "the converter ended without an answer (exit status \(status))")
    case .gone: Fault(.unsupported, "the converter ended twice before it began")
    case .malformedReply: Fault(.unsupported, "the converter sent an invalid answer")
    case .time(let seconds): Fault(.limit, "converting it took longer than \(seconds) s (-o convert_time)")
    case .delay(let seconds):
      Fault(.limit, "converting it did not end within \(seconds) s, three times -o convert_time")
    case .memory(let bytes):
      Fault(.limit, "converting it took more than \(bytes >> 20) MiB of memory (-o convert_memory)")
    case .input(let fault): fault
    case .cancelled: Fault(.system(EINTR), "the conversion was cancelled")
    }
  }

  private static func name(ofSignal signal: Int32) -> String {
    let names: [Int32: String] = [
      SIGSEGV: "SIGSEGV", SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL", SIGSYS: "SIGSYS",
      SIGTRAP: "SIGTRAP", SIGXCPU: "SIGXCPU", SIGXFSZ: "SIGXFSZ", SIGKILL: "SIGKILL", SIGTERM: "SIGTERM",
      SIGINT: "SIGINT", SIGHUP: "SIGHUP", SIGQUIT: "SIGQUIT", SIGPIPE: "SIGPIPE",
    ]
    return names[signal] ?? "signal \(signal)"
  }
}
