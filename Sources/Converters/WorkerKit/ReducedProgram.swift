internal import Catalogue
internal import Glibc

/// The program `Conversion.reducedProgram`. Its file is that of ffconvert, linked with stubs in place of most libraries.
public enum ReducedProgram {
  /// Whether this process runs it. The stubs define the symbol.
  public static let isRunning = unsafe dlsym(nil, "ffmount_is_reduced") != nil

  /// Throws in this program: the content of a file is of a format that its name does not tell, and that needs more
  /// libraries.
  public static func requireLibraries() throws(JobFailure) {
    guard isRunning else { return }
    throw JobFailure(
      .unsupported, "needs libraries that are not installed (apt install ffmount-converters)")
  }
}
