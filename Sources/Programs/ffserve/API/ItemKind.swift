/// The type of a file or directory in the API.
enum ItemKind: String {
  case directory
  case file
  /// A symbolic link that is dangling or leads out of the tree, or a special file.
  case other
}
