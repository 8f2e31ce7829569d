internal import Documents
internal import WorkerKit

/// The worker program for pages of PDFs. It links only libqpdf, and starts in a tenth of ffconvert's time.
@main
enum FFPages {
  static func main() { WorkerRuntime.run("ffpages") { [PagesHandler(), TagsHandler()] } }
}
