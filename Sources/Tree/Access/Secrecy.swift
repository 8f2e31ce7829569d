/// The part of a source's content that a view may reveal to the caller.
///
/// Names, attributes and sizes are shown to every user that may search a directory, and the kernel caches them for all
/// users. A process that may not read a file must learn nothing from its views except what their names say. A mount
/// shared by several users therefore has two replies, and neither is cached:
///
/// - A process that may read the source gets the actual view: none if the content is unsuitable, sizes as they are
///   known.
/// - Any other process finds a view under every name of the right form, with attributes derived from the source's. A
///   directory is the same node for both, so that neither lookup replaces it for the other. It cannot be entered
///   without permission to read the source. A file is a separate node for each, since the kernel has one size per node.
///
/// If every user may read the source, or only one user sees the mount, there is one reply, and it is cached.
enum Secrecy: Sendable {
  /// The reply is the same for all users.
  case none
  /// Access is restricted, and the requesting process may read the source.
  case guarded
  /// The requesting process may not read the source. The reply reveals only what the name says.
  case concealed
}
