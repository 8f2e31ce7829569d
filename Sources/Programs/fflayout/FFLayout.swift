internal import Catalogue
internal import Sandbox
internal import SandboxTrial
internal import WorkerKit

/// The worker program that has LibreOffice lay out documents and write them in other formats.
@main
enum FFLayout {
  static func main() {
    SandboxTrial.runIfAsked(reading: places, makeHandlers)
    WorkerRuntime.run("fflayout", reading: places, makeHandlers)
  }

  /// All that a document writes, its result and what LibreOffice puts beside it, in bytes.
  private static let room = 1 << 30

  /// What LibreOffice reads: itself, fonts, where words may be parted, and how large paper is in the locale.
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
