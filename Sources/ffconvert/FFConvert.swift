internal import Glibc
internal import Images
internal import Rendering
internal import Workshop

/// The worker that ffmount starts: it converts what it is handed on a socket, and can do nothing else.
@main
enum FFConvert {
  static func main() {
    if CommandLine.arguments.dropFirst() == ["--check-sandbox"] { exit(SandboxCheck.run()) }
    Workshop.run("ffconvert", makeBench)
  }

  /// Loads what cannot be loaded any more when the sandbox is closed.
  static func makeBench() -> Workbench {
    if !Vips.start() { fail("libvips cannot be started.") }
    if !ReadDocument.prepare() { fail("There is no conversion from and to UTF-16.") }
    return Workbench()
  }

  private static func fail(_ line: String) -> Never {
    Workshop.complain(line)
    exit(69)
  }
}
