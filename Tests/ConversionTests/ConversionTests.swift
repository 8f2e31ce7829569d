import Testing

/// Serialized: the tests count this process's children.
@Suite(.serialized) enum ConversionTests {}
