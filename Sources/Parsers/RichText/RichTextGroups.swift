/// The state of the open groups. A group inherits the state of the enclosing one, and its end restores that.
///
/// Memory is bounded: groups nested deeper than 1,000 share one state.
package struct RichTextGroups<State> {
  package var current: State
  private let initial: State
  private var outer: [State] = []
  /// The number of open groups without a state of their own.
  private var excess = 0
  private static var most: Int { 1000 }

  package init(_ initial: State) {
    self.initial = initial
    current = initial
  }

  /// The number of open groups.
  package var depth: Int { outer.count + excess }

  package mutating func open() {
    if outer.count < Self.most { outer.append(current) } else { excess += 1 }
  }

  package mutating func close() {
    if excess > 0 { excess -= 1 } else { current = outer.popLast() ?? initial }
  }
}

extension RichTextGroups: Sendable where State: Sendable {}
