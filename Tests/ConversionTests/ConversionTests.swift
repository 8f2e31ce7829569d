import Testing

/// One after the other: they count this process's children.
@Suite(.serialized) enum ConversionTests {}
