internal import Tree

// Types of the tree whose names are hidden in `FileTree` by the library's own types.
typealias ItemAttributes = Attributes
typealias ItemKind = Kind
