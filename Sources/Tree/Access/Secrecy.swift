/// Whom a view may tell what its source holds.
///
/// A name, its attributes and its size are told to everybody who may search a folder, and the kernel remembers them for all
/// users alike. So that who may not read a file learns nothing from its views but what their names say, two answers are
/// given in a mount that several users share, and neither is remembered:
///
/// - Who may read the source gets the view as it is: none where the content is not for it, sizes as they are known.
/// - Everybody else finds a view under every name that has the form of one, whose attributes follow from the source's. A
///   folder is the same node for both, so that nobody takes it from under another's feet; it cannot be entered by those who
///   may not read the source. A file is a node of its own, since the kernel has but one size for each.
///
/// Where all may read the source, or nobody else sees the mount, there is one answer, and it is remembered.
enum Secrecy: Sendable {
  /// The same for all.
  case none
  /// Not for all, and for who asks.
  case guarded
  /// Not for who asks: it is said what the name says.
  case concealed
}
