import Assembly
import Testing

@Suite struct SystemErrorTests {
  /// Messages contain errors as they describe themselves.
  @Test func errorsAreShownInWords() { #expect("\(SystemError(code: 28))" == "No space left on device") }
}
