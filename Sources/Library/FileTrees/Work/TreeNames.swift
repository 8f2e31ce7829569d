internal import Tree

// What the library's own types of these names hide in `FileTree`.
typealias ItemAttributes = Attributes
typealias ItemKind = Kind
