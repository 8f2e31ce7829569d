internal import Bytes
internal import Glibc

/// Why a worker gave no answer.
public enum WorkerFailure: Error, Hashable, Sendable {
  /// It could not be started; an errno.
  case absent(Int32)
  /// A signal ended it.
  case signal(Int32)
  /// It ended by itself.
  case exited(Int32)
  /// It said what no worker says.
  case malformedReply
  /// It had ended before it began with the job, and so had the one before it.
  case gone
  /// It was ended because it took more than so many seconds of the processors.
  case time(Int)
  /// It was ended because so many seconds went by.
  case delay(Int)
  /// It was ended because it took more memory than so many bytes.
  case memory(Int64)
  /// It was ended because nobody waits any more.
  case cancelled
}

extension WorkerFailure {
  /// Whether the same bytes will have it again. What somebody else did to the worker, a machine that is short of something, or
  /// a disk that fails (SIGBUS), they need not.
  var isLasting: Bool {
    switch self {
    case .absent, .cancelled, .gone, .delay: false
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
      // What the machine lacks is told as that.
      Fault(
        [EMFILE, ENFILE, ENOMEM, EAGAIN].contains(code) ? .system(code) : .unsupported,
        "the converter could not be started: \(unsafe String(cString: strerror(code)))")
    case .signal(let signal):
      Fault(
        .unsupported,
        "the converter \(isLasting || signal == SIGBUS ? "crashed" : "was killed") (\(Self.name(ofSignal: signal)))")
    case .exited(let status): Fault(.unsupported, "the converter ended without an answer (exit status \(status))")
    case .gone: Fault(.unsupported, "the converter ended before it began, twice")
    case .malformedReply: Fault(.unsupported, "the converter gave an answer that makes no sense")
    case .time(let seconds): Fault(.limit, "converting it took longer than \(seconds) s (-o convert_time)")
    case .delay(let seconds):
      Fault(.limit, "converting it was not done after \(seconds) s, three times -o convert_time")
    case .memory(let bytes):
      Fault(.limit, "converting it took more than \(bytes >> 20) MiB of memory (-o convert_memory)")
    case .cancelled: Fault(.system(EINTR), "nobody waits for it")
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
