internal import Bytes
internal import Locks
public import SystemPackage
internal import Tree

extension FileTree {
  /// A format to which files can be converted, by its name in `.as-jpeg`. `ffmount formats` lists all formats.
  public struct Format: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name of the format in paths, such as `jpeg`.
    public let name: String

    /// Creates a format.
    ///
    /// - Parameter name: The name of the format in paths, such as `jpeg`.
    public init(_ name: String) { self.name = name }
    /// Creates a format from its name, such as `"jpeg"`.
    public init(stringLiteral name: String) { self.init(name) }

    /// A JPEG picture.
    public static let jpeg: Format = "jpeg"
    /// A PNG picture.
    public static let png: Format = "png"
    /// A WebP picture.
    public static let webp: Format = "webp"
    /// A PDF.
    public static let pdf: Format = "pdf"
    /// Plain text.
    public static let text: Format = "txt"
    /// A web page.
    public static let html: Format = "html"
    /// A film.
    public static let mp4: Format = "mp4"
    /// Sound.
    public static let mp3: Format = "mp3"
  }

  /// The parameters of a conversion.
  public struct ConversionOptions: Sendable, Hashable {
    /// The maximum length of the longest side of pictures and pages, in pixels. `nil` keeps the size.
    public var longestSide: Int?
    /// The quality of pictures, from 1 to 100. `nil` is the format's default.
    public var quality: Int?
    /// Further modifiers, as written in names: `["gray", "rot90"]`.
    public var modifiers: [String] = []

    /// Creates the parameters. By default, nothing is changed.
    public init(longestSide: Int? = nil, quality: Int? = nil, modifiers: [String] = []) {
      self.longestSide = longestSide
      self.quality = quality
      self.modifiers = modifiers
    }

    fileprivate var words: [String] {
      [longestSide.map { "\($0)px" }, quality.map { "q\($0)" }].compactMap { $0 } + modifiers
    }
  }

  /// Starts to convert a file.
  ///
  /// A worker program makes the result, which is cached. Cached results are not made again.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - format: The format of the result.
  ///   - options: The parameters of the conversion.
  public func convert(
    _ path: FilePath, to format: Format, options: ConversionOptions = ConversionOptions()
  ) -> Conversion {
    let names = path.names
    let words = options.words + ["as-\(format.name)"]
    let made =
      (names.dropLast() as ArraySlice<FileName>)
      + [FileName((names.last.map { Array($0.bytes) } ?? []) + words.flatMap { Array(".\($0)".utf8) })]
    return Conversion(Array(made), of: path, to: format, in: self)
  }

  /// A conversion in progress. It is cancelled when the last reference to this object is released.
  public final class Conversion: Sendable {
    private typealias Made = (path: FilePath, place: ResolvedPath, file: Tree.OpenFile)

    private let path: FilePath
    private let turn: QueuedCall<Made>
    /// The completed fraction, from 0 to 1, of the longest step if there are several. The sequence ends with the
    /// conversion, whether it succeeds or fails.
    public let progress: Progress

    fileprivate init(_ names: [FileName], of path: FilePath, to format: Format, in tree: FileTree) {
      self.path = path
      let step = Step()
      let turn = QueuedCall(on: tree.bench) { () throws(Fault) -> Made in
        try waiting(noting: step.begin) { () throws(Fault) in
          let source = try tree.place(path)
          guard let place = try tree.existing(names) else {
            throw Fault(.unsupported, "\(Self.kind(of: source)) cannot be converted to \(format.name) here")
          }
          let file = try place.open(.blocking)
          try file.source.findSize(.blocking)
          return (FilePath(names), place, file)
        }
      }
      self.turn = turn
      progress = Progress { turn.isOver ? nil : step.fraction }
    }

    /// The operation that the conversion waits for.
    private final class Step: Sendable {
      private let pending = UnfairLock<SharedOperation?>(nil)

      func begin(_ next: SharedOperation) { pending.withLock { $0 = next } }

      /// The completed fraction of the operation.
      var fraction: Double {
        let done = pending.withLock { $0 }?.thousandths() ?? 0
        return min(1, max(0, Double(done) / 1000))
      }
    }

    deinit { turn.cancel() }

    private static func kind(of place: ResolvedPath) -> String {
      place.attributes.kind == .folder ? "a folder" : "such a file"
    }

    /// Returns the path of the converted file, from the root. The file can be read, and copied to a real one.
    ///
    /// If the waiting task is cancelled, so is the conversion. Only one task can wait at a time.
    ///
    /// - Throws: `unsupported` if the file cannot be converted to the format, or the program is not installed;
    ///   `notFound`, `damaged`, `passwordNeeded`, `limitExceeded`, `cancelled`.
    public func result() async throws(FileTreeError) -> FilePath {
      do throws(Fault) { return try await turn.value().path } catch { throw FileTreeError(error, path) }
    }

    /// Cancels the conversion, unless it is complete.
    public func cancel() { turn.cancel() }
  }
}

extension FileTree.Conversion {
  /// Increasing fractions from 0 to 1. The last one is 1, whether the conversion succeeded or failed.
  public struct Progress: AsyncSequence, Sendable {
    /// A fraction from 0 to 1.
    public typealias Element = Double
    /// The sequence does not fail. `result()` throws the conversion's error.
    public typealias Failure = Never

    /// Returns the completed fraction. Returns `nil` when the conversion has ended.
    fileprivate let fraction: @Sendable () -> Double?

    /// Returns an iterator that starts with the next fraction.
    public func makeAsyncIterator() -> Iterator { Iterator(fraction) }

    /// An iterator over the fractions, for one task.
    public struct Iterator: AsyncIteratorProtocol {
      private let fraction: @Sendable () -> Double?
      private var last = -1.0

      fileprivate init(_ fraction: @escaping @Sendable () -> Double?) { self.fraction = fraction }

      /// Returns the next fraction. Returns `nil` after the last one, and if the task is cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Double? {
        while last < 1 {
          let fraction = self.fraction().map { Swift.min($0, 0.999) } ?? 1
          if fraction > last {
            last = fraction
            return fraction
          }
          // Workers report their progress a few times per second.
          guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return nil }
        }
        return nil
      }

      /// Returns the next fraction. Returns `nil` after the last one, and if the task is cancelled.
      public mutating func next() async -> Double? { await next(isolation: nil) }
    }
  }
}
