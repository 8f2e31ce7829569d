public import Catalogue
public import WorkerKit

/// A handler that converts videos. It copies them into another container or encodes them.
public struct FilmHandler: JobHandler {
  public static let verbs = Conversion.films.map(\.verb).filter { container($0) != nil }

  private static func container(_ verb: String) -> FilmContainer? {
    FilmContainer.all[verb] ?? FilmContainer.loops[verb]
  }

  private static func changes(_ recipe: Recipe) -> FilmChanges? {
    guard let words = recipe.arguments else { return nil }
    return FilmContainer.loops[recipe.verb] == nil ? FilmChanges(words[...]) : LoopChanges(words[...])?.film
  }

  /// The last measured layout, which is usually the next to be made.
  private var measured: (document: UInt64, recipe: Recipe, layout: SealedLayout)?

  public init() {}

  private static func making(_ recipe: Recipe, _ order: JobOrder) throws(JobFailure) -> FilmMaking {
    guard let container = container(recipe.verb), let changes = changes(recipe) else { throw .unknown }
    // The size that `stat` reports.
    let announced = Conversion.films.first { $0.verb == recipe.verb }?.size.estimate(fromFileOf: order.job.size) ?? 0
    return FilmMaking(try order.input(), container, changes, announced: announced)
  }

  public mutating func perform(
    _ recipe: Recipe, _ order: JobOrder, to output: JobOutput
  ) throws(JobFailure) -> String {
    let making = try Self.making(recipe, order)
    var layout: SealedLayout?
    var copies = true
    if let measured, measured.document == order.job.document, measured.document != 0, measured.recipe == recipe {
      layout = measured.layout
    } else {
      do throws(JobFailure) { layout = try making.layout() } catch { copies = false }
    }
    measured = nil
    return try making.write(to: output, layout, copies: copies)
  }

  public mutating func answer(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    guard case .measure(let recipe) = order.job.work else { throw .unknown }
    // A file that is not a video fails when it is converted.
    guard let layout = try? Self.making(recipe, order).layout() else { return .done(JobAnswer.unmeasured) }
    measured = (order.job.document, recipe, layout)
    return .done(FilmMaking.size(of: layout))
  }
}
