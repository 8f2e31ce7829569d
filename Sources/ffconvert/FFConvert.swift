internal import Glibc
internal import Images
internal import Workshop

/// The worker that ffmount starts: it converts what it is handed on a socket, and can do nothing else.
@main
enum FFConvert {
  static func main() {
    if CommandLine.arguments.dropFirst() == ["--check-sandbox"] { exit(SandboxCheck.run()) }
    Workshop.run("ffconvert", makeBench)
  }

  static func makeBench() -> Workbench {
    guard Vips.start() else {
      Workshop.complain("libvips cannot be started.")
      exit(69)
    }
    return Workbench()
  }
}
