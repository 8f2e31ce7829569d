internal import Documents
internal import WorkerKit

/// The worker program for pages of PDFs: it links only libqpdf, and starts in a tenth of the time of ffconvert.
@main
enum FFPages {
  static func main() { WorkerRuntime.run("ffpages") { [PagesHandler()] } }
}
