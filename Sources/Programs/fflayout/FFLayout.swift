internal import Catalogue
internal import Sandbox
internal import SandboxTrial
internal import WorkerKit

/// The worker program that lays out documents with LibreOffice and writes them in other formats.
@main
enum FFLayout {
  static func main() {
    SandboxTrial.runIfAsked(reading: places, makeHandlers)
    WorkerRuntime.run("fflayout", reading: places, makeHandlers)
  }

  /// The maximum size of all files written for a document, including LibreOffice's temporary files, in bytes.
  private static let room = 1 << 30

  /// The files that LibreOffice reads: itself, fonts, hyphenation rules, and the locale's paper size.
  private static let places = {
    var places = Sandbox.sharedFolders
    places.folders += [
      "/usr/share/libreoffice", "/etc/libreoffice", "/usr/share/hyphen", "/usr/share/liblangtag", "/usr/lib/locale",
    ]
    places.libraries = [OfficeSuite.folder].compactMap(\.self) + OfficeSuite.libraryFolders
    places.room = room
    return places
  }()

  static func makeHandlers() -> [any JobHandler] { [LayoutHandler()] }
}
