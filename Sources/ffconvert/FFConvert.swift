internal import Documents
internal import Glibc
internal import Images
internal import Sandbox

/// The worker that ffmount starts: it converts what it is handed on a socket, and can do nothing else.
@main
enum FFConvert {
  static func main() {
    if CommandLine.arguments.dropFirst() == ["--check-sandbox"] { exit(SandboxCheck.run()) }
    guard CommandLine.arguments.count == 1, let socket = JobSocket() else {
      complain("ffconvert converts files for ffmount, which starts it; it is not run by hand.")
      exit(64)
    }
    enterSandbox()
    var bench = Workbench()
    while let order = socket.next(), socket.send(bench.answer(order)) {}
  }

  /// Loads what has to be loaded from files, and gives up everything else.
  static func enterSandbox() {
    guard Vips.start() else {
      complain("libvips cannot be started.")
      exit(69)
    }
    guard ReadDocument.prepare() else {
      complain("There is no conversion from and to UTF-16.")
      exit(69)
    }
    let walls = Sandbox.close(memory: 4 << 30)
    complain("sandbox: \(walls.isEmpty ? "none" : walls.joined(separator: ", "))")
  }

  static func complain(_ line: String) {
    let text = line + "\n"
    _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
  }
}
