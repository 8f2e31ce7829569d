internal import Bytes
internal import Synchronization
public import SystemPackage
internal import Tree

extension FileTree {
  /// A format that files can be had in, by its name in `.as-jpeg`; `ffmount formats` shows all.
  public struct Format: Sendable, Hashable, ExpressibleByStringLiteral {
    /// As in names: `jpeg`.
    public let name: String

    /// - Parameter name: as in names: `jpeg`.
    public init(_ name: String) { self.name = name }
    /// A format by its name: `"jpeg"`.
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

  /// What is changed on the way to another format.
  public struct ConversionOptions: Sendable, Hashable {
    /// Of pictures and pages: the most pixels of the longest side; nil for as many as there are.
    public var longestSide: Int?
    /// Of pictures: 1 to 100; nil for the format's usual one.
    public var quality: Int?
    /// Further modifiers, as names have them: `["gray", "rot90"]`.
    public var modifiers: [String] = []

    /// Without any change.
    public init(longestSide: Int? = nil, quality: Int? = nil, modifiers: [String] = []) {
      self.longestSide = longestSide
      self.quality = quality
      self.modifiers = modifiers
    }

    fileprivate var words: [String] {
      [longestSide.map { "\($0)px" }, quality.map { "q\($0)" }].compactMap { $0 } + modifiers
    }
  }

  /// Begins to make a file of another.
  ///
  /// It is made by a worker program, and kept in the cache; what is there is not made again.
  ///
  /// - Parameters:
  ///   - path: the file.
  ///   - format: what it is to become.
  ///   - options: what is changed on the way.
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

  /// A file that is being made. It is no longer made once nobody holds on to this.
  public final class Conversion: Sendable {
    private typealias Made = (path: FilePath, place: Place, file: Tree.OpenFile)

    private let path: FilePath
    private let turn: Turn<Made>
    /// The made part so far, from 0 to 1, as it grows, of the longest step if there are several; ends when the conversion
    /// does, well or not.
    public let progress: Progress

    fileprivate init(_ names: [FileName], of path: FilePath, to format: Format, in tree: FileTree) {
      self.path = path
      let step = Step()
      let turn = Turn(on: tree.bench) { () throws(Fault) -> Made in
        try waiting(noting: step.begin) { () throws(Fault) in
          let source = try tree.place(path)
          guard let place = try tree.existing(names) else {
            throw Fault(.unsupported, "\(Self.kind(of: source)) cannot be had as \(format.name) here")
          }
          let file = try place.open(.blocking)
          try file.source.findSize(.blocking)
          return (FilePath(names), place, file)
        }
      }
      self.turn = turn
      progress = Progress { turn.isOver ? nil : step.fraction }
    }

    /// What is waited for.
    private final class Step: Sendable {
      private let pending = Mutex<Pending?>(nil)

      func begin(_ next: Pending) { pending.withLock { $0 = next } }

      /// The part that is made of it.
      var fraction: Double {
        let done = pending.withLock { $0 }?.thousandths() ?? 0
        return min(1, max(0, Double(done) / 1000))
      }
    }

    deinit { turn.cancel() }

    private static func kind(of place: Place) -> String {
      place.attributes.kind == .folder ? "a folder" : "such a file"
    }

    /// The path of the made file, from the root: it can be read, and copied to a real one.
    ///
    /// If the task that waits is cancelled, so is the conversion. One task may wait at a time.
    ///
    /// - Throws: `unsupported` where such a file cannot become one of the format, or the program is not installed;
    ///   `notFound`, `damaged`, `passwordNeeded`, `limitExceeded`, `cancelled`.
    public func result() async throws(FileTreeError) -> FilePath {
      do throws(Fault) { return try await turn.value().path } catch { throw FileTreeError(error, path) }
    }

    /// Stops it, unless it is done.
    public func cancel() { turn.cancel() }
  }
}

extension FileTree.Conversion {
  /// Fractions from 0 to 1, each larger than the one before; the last is 1, whether it ended well or not.
  public struct Progress: AsyncSequence, Sendable {
    /// From 0 to 1.
    public typealias Element = Double
    /// None: how the conversion ended, `result()` tells.
    public typealias Failure = Never

    /// The made part; nil when it is over.
    fileprivate let fraction: @Sendable () -> Double?

    /// Starts with the next fraction.
    public func makeAsyncIterator() -> Iterator { Iterator(fraction) }

    /// Fractions in order, by one reader.
    public struct Iterator: AsyncIteratorProtocol {
      private let fraction: @Sendable () -> Double?
      private var last = -1.0

      fileprivate init(_ fraction: @escaping @Sendable () -> Double?) { self.fraction = fraction }

      /// The next fraction; nil after the last, and when the task is cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Double? {
        while last < 1 {
          let fraction = self.fraction().map { Swift.min($0, 0.999) } ?? 1
          if fraction > last {
            last = fraction
            return fraction
          }
          // Workers tell of their progress a few times a second.
          guard (try? await Task.sleep(for: .milliseconds(50))) != nil else { return nil }
        }
        return nil
      }

      /// The next fraction; nil after the last, and when the task is cancelled.
      public mutating func next() async -> Double? { await next(isolation: nil) }
    }
  }
}
