extension Sequence {
  /// Returns the first result of `transform` that is not `nil`. Calls it once per element, unlike
  /// `lazy.compactMap(_:).first`, which calls it twice for the first result and traps if the second one is `nil`.
  @inlinable public func firstNonNil<Result>(_ transform: (Element) throws -> Result?) rethrows -> Result? {
    for element in self {
      if let result = try transform(element) { return result }
    }
    return nil
  }
}
