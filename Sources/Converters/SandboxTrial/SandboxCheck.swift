internal import Bytes
internal import CPosix
internal import Catalogue
internal import Files
internal import Glibc
internal import Sandbox
internal import WorkerKit

/// The command `--check-sandbox [WALL…]`. It starts a worker as the daemon does, has it attempt forbidden operations,
/// and prints the result of each attempt. With names of layers, or `none`, only those are applied, which shows the
/// attempts that each layer prevents.
enum SandboxCheck {
  static let argument = "--check-sandbox"

  /// Runs the check. Returns the exit status, which is 0 if every attempt was refused.
  static func run(_ words: ArraySlice<String>) -> Int32 {
    let walls = words.isEmpty ? SandboxLayer.allCases : words.compactMap { SandboxLayer(rawValue: $0) }
    guard walls.count == words.count || words.isEmpty || words == ["none"] else {
      WorkerRuntime.logError(
        "\(argument): of \(SandboxLayer.allCases.map(\.rawValue).joined(separator: ", ")), or none")
      return 64
    }
    do throws(Stage.Failure) {
      let stage = try Stage()
      defer { stage.strike() }
      let lines = try answers(on: stage, walls)
      for line in lines { print(line) }
      return lines.last == end && !lines.contains { $0.hasSuffix(": allowed") } ? 0 : 1
    } catch {
      WorkerRuntime.logError("\(argument): \(error.reason)")
      return 69
    }
  }

  private static let end = "all were tried"

  private static func answers(on stage: Stage, _ walls: [SandboxLayer]) throws(Stage.Failure) -> [String] {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Stage.Failure("socketpair") }
    let file = unsafe open("\(stage.folder)/open", O_RDWR | O_CLOEXEC)
    let program = WorkerProgram(path: ownPath, arguments: [Escapes.argument] + walls.map(\.rawValue))
    let worker: pid_t
    do throws(Fault) { worker = try program.start(socket: ends[1], errors: STDERR_FILENO) } catch {
      throw Stage.Failure("the worker could not be started")
    }
    close(ends[1])
    let message = stage.message
    guard unsafe ffmount_send(ends[0], message, message.count, [file], 1) > 0 else { throw Stage.Failure("send") }
    var lines: [String] = []
    while let line = receive(ends[0]) {
      if line == "ready" {
        lines += standing(of: worker)
        unsafe _ = ffmount_send(ends[0], [1], 1, nil, 0)
      } else {
        lines.append(line)
      }
    }
    var status: Int32 = 0
    while unsafe waitpid(worker, &status, 0) < 0, errno == EINTR {}
    return lines + (status == 0 && lines.last?.hasPrefix("become a program") == true ? [end] : ["the worker is gone"])
  }

  private static var ownPath: String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    return String(decoding: buffer[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private static func receive(_ socket: Int32) -> String? {
    var message = [UInt8](repeating: 0, count: Job.messageLimit)
    var descriptors = [Int32](repeating: -1, count: Int(FFMOUNT_MOST_DESCRIPTORS))
    var came = 0
    let count = unsafe ffmount_receive(socket, &message, message.count, &descriptors, &came)
    return count > 0 ? String(decoding: message[..<count], as: UTF8.self) : nil
  }

  /// The rights that a process has according to the system.
  private static func standing(of process: pid_t) -> [String] {
    guard let file = unsafe fopen("/proc/\(process)/status", "re") else { return ["hide its rights: allowed"] }
    defer { unsafe fclose(file) }
    var fields: [String: [Substring]] = [:]
    var line = [CChar](repeating: 0, count: 4096)
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      let words = text.split(whereSeparator: \.isWhitespace)
      fields[words.first.map(String.init) ?? ""] = Array(words.dropFirst())
    }
    func isZero(_ name: String) -> Bool { fields[name]?.first.map { $0.allSatisfy { $0 == "0" } } ?? false }
    let isPowerless = ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"].allSatisfy(isZero)
    let isRoot = (fields["Uid:"] ?? []).contains("0") || fields["Uid:"] == nil
    return [
      "hold a capability: \(isPowerless ? "none" : "allowed")", "be root: \(isRoot ? "allowed" : "no")",
      "gain rights by a program: \(fields["NoNewPrivs:"] == ["1"] ? "no" : "allowed")",
    ]
  }
}
