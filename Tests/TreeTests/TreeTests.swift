import Testing

@Test func placeholderToBeReplaced() {}
