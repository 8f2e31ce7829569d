/// Which users may learn a source's content from its view.
///
/// Names, attributes and sizes are shown to everyone who may search a folder, and the kernel caches them for all users
/// alike. So that a process that may not read a file learns nothing from its views but what their names say, a mount
/// shared by several users gives two answers, and neither is cached:
///
/// - A process that may read the source gets the view as it is: none if the content is unsuitable, sizes as they are
///   known.
/// - Any other process finds a view under every name of the right form, with attributes derived from the source's. A
///   folder is the same node for both, so that neither replaces it for the other; it cannot be entered by those who may
///   not read the source. A file is a separate node, since the kernel has only one size for each.
///
/// If all may read the source, or nobody else sees the mount, there is one answer, and it is cached.
enum Secrecy: Sendable {
  /// The same for all users.
  case none
  /// Restricted, but the requesting process may read the source.
  case guarded
  /// The requesting process may not read the source: only what the name says is shown.
  case concealed
}
