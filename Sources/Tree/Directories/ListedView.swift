internal import Bytes

/// A view's entry in a listing.
struct ListedView: Sendable {
  let name: FileName
  let view: any View
  /// The view's source, in the same directory.
  let file: FileName
}
