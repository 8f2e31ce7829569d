public import Bytes

/// The purpose of listing a view, by which `ViewListing` decides where it is listed.
public enum ListingPurpose: Sendable {
  /// To open the file: the entries of an archive, the messages of a mailbox, the parts of a message.
  case opening
  /// To show an image that common programs do not show.
  case showing
  /// To offer anything else that is made from the file.
  case converting
}

/// The rule for listings, with the changes by `-o views=`. It does not affect lookups of names.
public struct ViewListing: Sendable {
  /// The sets of listed views.
  public enum Preset: String, Sendable, CaseIterable {
    /// All views with a listed extension, everywhere.
    case all
    /// These views beside real files. In views, only those that open a file or show an image.
    case usual
    /// Only views that open a file.
    case folders
    /// Only views of the added extensions, if any.
    case none
  }

  public var preset = Preset.usual
  public var added: Set<FileExtension> = []
  public var removed: Set<FileExtension> = []
  /// The names of views that listings do not show.
  public var hidden: Set<String> = []
  /// The form of listed names of files in another format.
  public var spelling = FormatSuffix.name

  public init() {}

  /// Returns the extensions beside which a listing shows a view.
  package func extensions(_ usual: Set<FileExtension>, byName: Set<FileExtension> = []) -> Set<FileExtension> {
    let all = usual.union(byName.intersection(added))
    return (preset == .none ? all.intersection(added) : all).subtracting(removed)
  }

  /// Returns whether a listing of `folder` shows a view beside a file, if it has a listed extension.
  func shows(_ view: any View, beside file: FileName, in folder: any Item) -> Bool {
    if hidden.contains(view.viewName(beside: file)) { return false }
    switch preset {
    case .all: return true
    case .usual: return folder is RealFolder || view.purpose(beside: file) != .converting
    case .folders: return view.purpose(beside: file) == .opening
    case .none: return file.fileExtension.map(added.contains) ?? false
    }
  }
}
