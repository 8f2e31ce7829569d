/// The state at the boundary of two pieces.
extension SafeHTML {
  /// The parser state between two pieces of a document.
  struct State: Sendable {
    enum Mode: Sendable {
      case content
      /// In a comment or declaration that is longer than the window.
      case comment
      case declaration
      case tag(HTMLTag.Place)
      /// In an element whose content is not HTML, until its end tag.
      case raw(Raw)
    }

    struct Raw: Sendable {
      /// In lower case.
      let name: [UInt8]
      let isShown: Bool
      /// Whether character references apply in it.
      let hasReferences: Bool
    }

    var mode = Mode.content
    /// The nesting depth in elements that are removed with everything in them.
    var hidden = 0
    /// Whether the page's head is written, after which no document type may follow.
    var hasHead = false

    /// The initial state for the next document on the same page.
    var ofNext: State {
      var state = State()
      state.hasHead = hasHead
      return state
    }
  }
}
