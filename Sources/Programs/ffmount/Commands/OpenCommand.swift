import ArgumentParser
import Assembly
import Files
import Glibc

/// `ffmount open FILE`: mounts a file or directory below the user's runtime directory and shows it.
struct OpenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "open", abstract: "Mounts a ZIP, mailbox or PDF temporarily, and shows it.",
    usage: "ffmount open FILE [--print] [--idle SECONDS]",
    discussion: """
      Shows it in the file manager if there is a desktop. The folder, which is printed, is below \
      $XDG_RUNTIME_DIR/ffmount. It is unmounted and removed when it has not been used for a while. A file that is \
      already open is shown again.
      """)

  @Argument(help: "The file or folder to show.", completion: .file())
  var file: String

  @Flag(help: "Print the folder, and do not start a file manager.")
  var print = false

  @Option(help: ArgumentHelp("Unmount after the given number of seconds without use.", valueName: "seconds"))
  var idle = 600

  @Option(
    name: .customShort("o"),
    help: ArgumentHelp("Mount options, separated by commas (see man ffmount).", valueName: "options"))
  var options: [String] = []

  func run() throws {
    try RunningMount.expectAnswers(onTheWayTo: [file], toDo: "open")
    guard let source = MountTable.resolved(file) else {
      throw Refusal(.sourceMissing, "cannot open \(file): \(describe(errno)) (check the path)")
    }
    let options = try MountOptions(["idle=\(idle)"] + options)
    let place = try OpenedPlace(for: source)
    if !place.isMounted {
      do {
        try MountPlan(source: file, mountpoint: place.folder, options)
          .run(inForeground: false) { place.remove() }
      } catch {
        place.remove()
        throw error
      }
    }
    Swift.print(place.folder)
    if !print { try show(place.folder) }
  }

  /// Starts the file manager if there is a desktop session.
  private func show(_ folder: String) throws {
    guard Terminal.variable("DISPLAY") != nil || Terminal.variable("WAYLAND_DISPLAY") != nil else { return }
    guard let opener = Subprocess.path(of: "xdg-open") else {
      throw Refusal(.failure, "cannot show \(folder): no xdg-open (install it with: apt install xdg-utils)")
    }
    guard let child = Subprocess.detach(opener, [folder]) else {
      throw Refusal(.failure, "cannot show \(folder): \(opener): \(describe(errno))")
    }
    // xdg-open exits at once, or is the file manager itself, which keeps running.
    var status: Int32 = 0
    for _ in 0..<Self.looks {
      if unsafe waitpid(child, &status, WNOHANG) != 0 { break }
      _ = usleep(Self.pause)
    }
    guard status == 0 else {
      throw Refusal(.failure, "cannot show \(folder): xdg-open found no file manager (install one, or use the folder)")
    }
  }

  /// The number of times xdg-open is checked for failure, and the interval in microseconds.
  private static let looks = 40
  private static let pause: UInt32 = 50_000
}
