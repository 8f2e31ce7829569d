internal import CPoppler
internal import Pixels
internal import WorkerKit

/// An area of a page with a link.
struct PageLink {
  let box: PageBox
  let address: String
}

extension RenderedDocument {
  /// The title in the document's metadata. Empty if there is none.
  var title: String {
    guard let text = unsafe poppler_document_get_title(document) else { return "" }
    defer { unsafe g_free(text) }
    return unsafe String(String(cString: text).prefix(300))
  }

  /// Returns the links of a page to web pages and mail addresses.
  ///
  /// - Parameter index: from 0.
  func links(ofPage index: Int) throws(JobFailure) -> [PageLink] {
    try unsafe withPage(Int32(clamping: index)) { page in
      var (width, height) = (0.0, 0.0)
      unsafe poppler_page_get_size(page, &width, &height)
      let list = unsafe poppler_page_get_link_mapping(page)
      defer { unsafe poppler_page_free_link_mapping(list) }
      var links: [PageLink] = []
      var next = unsafe list
      while let item = unsafe next, links.count < Self.mostLinks {
        unsafe next = item.pointee.next
        guard let mapping = unsafe item.pointee.data?.assumingMemoryBound(to: PopplerLinkMapping.self),
          let action = unsafe mapping.pointee.action, unsafe action.pointee.type == POPPLER_ACTION_URI,
          let uri = unsafe action.pointee.uri.uri
        else { continue }
        let address = unsafe String(cString: uri)
        guard address.utf8.count <= 4096, address.isHarmlessAddress else { continue }
        let area = unsafe mapping.pointee.area
        links.append(
          PageLink(
            box: PageBox(left: area.x1, top: height - area.y2, right: area.x2, bottom: height - area.y1),
            address: address))
      }
      return links
    }
  }

  private static var mostLinks: Int { 2000 }
  /// The maximum number of figures. Each one takes as long as painting the page.
  private static var mostFigures: Int { 24 }
  /// The minimum side of a figure, in points. Smaller ones are bullets and rules.
  private static var leastSide: Double { 12 }

  /// Calls `body` with each image of a page. Large images are reduced.
  ///
  /// - Parameter index: from 0.
  /// - Returns: The number of images left out.
  func forEachFigure(
    ofPage index: Int, _ body: (PageBox, Samples) throws(JobFailure) -> Void
  ) throws(JobFailure) -> Int {
    try unsafe withPage(Int32(clamping: index)) { (page) throws(JobFailure) in
      let list = unsafe poppler_page_get_image_mapping(page)
      defer { unsafe poppler_page_free_image_mapping(list) }
      var places: [(number: Int32, box: PageBox)] = []
      var next = unsafe list
      while let item = unsafe next {
        unsafe next = item.pointee.next
        guard let data = unsafe item.pointee.data else { continue }
        let mapping = unsafe data.assumingMemoryBound(to: PopplerImageMapping.self)
        let area = unsafe mapping.pointee.area
        let box = PageBox(
          left: min(area.x1, area.x2), top: min(area.y1, area.y2), right: max(area.x1, area.x2),
          bottom: max(area.y1, area.y2))
        if box.width >= Self.leastSide, box.height >= Self.leastSide {
          places.append((unsafe mapping.pointee.image_id, box))
        }
      }
      places.sort { ($0.box.top, $0.box.left, $0.number) < ($1.box.top, $1.box.left, $1.number) }
      for place in places.prefix(Self.mostFigures) {
        guard let surface = unsafe poppler_page_get_image(page, place.number) else { continue }
        defer { unsafe cairo_surface_destroy(surface) }
        if let samples = try unsafe Self.samples(of: surface) { try body(place.box, samples) }
      }
      return max(0, places.count - Self.mostFigures)
    }
  }

  private static func samples(of surface: OpaquePointer) throws(JobFailure) -> Samples? {
    guard unsafe cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS,
      unsafe cairo_surface_get_type(surface) == CAIRO_SURFACE_TYPE_IMAGE
    else { return nil }
    let width = unsafe Double(cairo_image_surface_get_width(surface))
    let height = unsafe Double(cairo_image_surface_get_height(surface))
    guard width >= 1, height >= 1 else { return nil }
    let scale = min(1, PageFigure.longestSide / max(width, height))
    let raster = try Raster(
      width: max(1, (width * scale).rounded()), height: max(1, (height * scale).rounded()), density: 72)
    try unsafe raster.paint { cairo in
      unsafe cairo_scale(cairo, Double(raster.width) / width, Double(raster.height) / height)
      unsafe cairo_set_source_surface(cairo, surface, 0, 0)
      unsafe cairo_pattern_set_extend(cairo_get_source(cairo), CAIRO_EXTEND_PAD)
      unsafe cairo_paint(cairo)
    }
    return unsafe Samples(width: raster.width, height: raster.height, bands: 3, bytes: Array(raster.bytes))
  }
}

extension String {
  /// Whether following the address only loads a page or composes a mail.
  fileprivate var isHarmlessAddress: Bool {
    ["http://", "https://", "mailto:"].contains { prefix($0.count).lowercased() == $0 }
  }
}
