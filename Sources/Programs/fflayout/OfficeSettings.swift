internal import Glibc
internal import WorkerKit

/// The configuration of LibreOffice: no code of a document runs, nothing is fetched, and the same document yields the
/// same bytes.
enum OfficeSettings {
  /// Returns the environment variables. LibreOffice may write to `folder`, and is installed in `suite`.
  static func variables(in folder: String, suite: String) -> [(String, String)] {
    [
      ("HOME", folder), ("TMPDIR", folder), ("SAL_USE_VCLPLUGIN", "svp"), ("SAL_RAND_REPEATABLE", "1"),
      ("SAL_NOLOCK_PROFILE", "1"), ("SAL_DISABLE_PRINTERLIST", "1"),
      // The default layers, without those of users, desktops and extensions, and below our own.
      (
        "CONFIGURATION_LAYERS",
        "xcsxcu:file://\(suite)/share/registry res:file://\(suite)/share/registry xcsxcu:file://\(folder)/settings"
          + " user:file://\(folder)/profile/user/registrymodifications.xcu"
      ),
    ]
  }

  /// Writes the settings to a directory, as a configuration layer whose values no other layer can change.
  static func write(in folder: String, suite: String) throws(JobFailure) {
    for path in ["\(folder)/settings", "\(folder)/profile", "\(folder)/profile/user"] {
      guard unsafe mkdir(path, 0o700) == 0 else { throw JobFailure("cannot be copied", errno: errno) }
    }
    try write(layer, to: "\(folder)/settings/ffmount.xcd")
    try write(MissingWindow.text, to: "\(folder)/settings/\(MissingWindow.name)")
  }

  private static func write(_ text: String, to path: String) throws(JobFailure) {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw JobFailure("cannot be copied", errno: errno) }
    defer { close(file) }
    try unsafe JobOutput.write(Array(text.utf8).span.bytes, to: file)
  }

  /// Returns the end of the URL of a description that this suite lacks, and the path of the one written by `write`.
  /// Returns `nil` if the suite has it.
  static func missingWindow(in folder: String, suite: String) -> (ending: String, path: String)? {
    guard unsafe access("\(suite)/share/config/soffice.cfg/\(MissingWindow.place)", R_OK) != 0 else { return nil }
    return ("/\(MissingWindow.place)", "\(folder)/settings/\(MissingWindow.name)")
  }

  private static let layer = """
    <?xml version="1.0" encoding="UTF-8"?>
    <oor:data xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" \
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\(components.map(\.text).joined())</oor:data>
    """

  /// Values in one component of the configuration, by their paths.
  private struct Component {
    let package: String
    let name: String
    let values: [(path: String, value: String)]

    var text: String {
      let nodes = values.map { path, value in
        let names = path.split(separator: "/")
        let property =
          "<prop oor:name=\"\(names.last ?? "")\" oor:finalized=\"true\"><value>\(value)</value></prop>"
        return names.dropLast().reversed().reduce(property) { inner, name in
          // A member of a set is created; a group exists.
          let (name, kind) = name.hasPrefix("+") ? (name.dropFirst(), " oor:op=\"replace\"") : (name, "")
          return "<node oor:name=\"\(name)\"\(kind)>\(inner)</node>"
        }
      }
      return
        "<oor:component-data oor:package=\"\(package)\" oor:name=\"\(name)\">\(nodes.joined())</oor:component-data>"
    }
  }

  private static let components = [
    Component(
      package: "org.openoffice", name: "Setup",
      values: [
        // No version is newer. Otherwise LibreOffice first tests its drawing, which takes half a second.
        ("Product/ooSetupLastVersion", "99.9"), ("Office/ooSetupInstCompleted", "true"),
        // The locale comes from the environment and has A4.
        ("L10N/ooSetupSystemLocale", ""),
      ]),
    Component(
      package: "org.openoffice.Office", name: "Common",
      values: [
        ("Security/Scripting/MacroSecurityLevel", "3"), ("Security/Scripting/DisableMacrosExecution", "true"),
        ("Security/Scripting/DisableActiveContent", "true"), ("Security/Scripting/BlockUntrustedRefererLinks", "true"),
        ("Security/Scripting/CheckDocumentEvents", "false"), ("Misc/UseLocking", "false"),
        ("Misc/UseDocumentSystemFileLocking", "false"), ("Misc/UseDocumentOOoLockFile", "false"),
        ("Misc/UseOpenCL", "false"), ("Save/Document/AutoSave", "false"), ("Save/Document/CreateBackup", "false"),
        ("Load/UserDefinedSettings", "true"), ("History/PickListSize", "0"),
      ]),
    Component(
      package: "org.openoffice.Office", name: "Recovery",
      values: [("AutoSave/Enabled", "false"), ("RecoveryInfo/Enabled", "false")]),
    // Hides the formula bar, whose description is missing in the packages without a screen. Otherwise no workbook
    // opens.
    Component(package: "org.openoffice.Office", name: "Views", values: [("Windows/+26100/Visible", "false")]),
    // Never updates links.
    Component(package: "org.openoffice.Office", name: "Writer", values: [("Content/Update/Link", "2")]),
    Component(package: "org.openoffice.Office", name: "Calc", values: [("Content/Update/Link", "2")]),
  ]
}
