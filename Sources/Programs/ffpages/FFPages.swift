internal import Workshop

/// The worker that takes PDFs apart: it links libqpdf alone, and so starts in a tenth of the time that ffconvert does.
@main
enum FFPages {
  static func main() { Workshop.run("ffpages") { PageBench() } }
}
