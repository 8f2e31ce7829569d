internal import Pixels
internal import WorkerKit

/// A smaller encoding of an image.
struct ImageRecoding {
  /// Dictionary entries to replace. An empty value removes the key.
  let entries: [(key: String, value: String)]
  let data: [UInt8]

  /// Keys that are no longer valid.
  static let keys = ["/Width", "/Height", "/BitsPerComponent", "/Filter", "/DecodeParms", "/Length"]
}

/// Finds smaller encodings for images, depending on the size at which they are painted.
struct ImageRecoder {
  /// The target resolution, in pixels per inch.
  let resolution: Int
  /// The JPEG quality, 1 to 100.
  let quality: Int
  let deflate: Deflate
  let library: any ImageLibrary

  /// The maximum ratio of existing to needed pixels along a side at which an image is not scaled.
  private static let tolerance = 1.15
  /// The minimum resolution of black-and-white images, which need more pixels to look as good.
  private static let leastBilevelResolution = 300
  private static let bilevelTolerance = 4.0 / 3
  /// The maximum number of colours of an image that was most likely drawn. JPEG artifacts are visible in drawings.
  private static let drawnColours = 256

  /// Returns a smaller encoding of an image. Returns `nil` if none was found or is permitted.
  ///
  /// - Parameters:
  ///   - raw: the stream's bytes as stored.
  ///   - extent: the painted size. Nil if unknown; the encoding must then be lossless.
  ///   - base: the base colour space of the image's colour table, with the new document's object numbers.
  func recode(
    _ image: ImageStream, raw: [UInt8], extent: ImageSizes.Extent?, isSoftMask: Bool, base: String?
  ) -> ImageRecoding? {
    // The overhead beside the data cannot be reduced.
    guard raw.count >= 256 else { return nil }
    let work = Work(recoder: self, image: image, raw: raw, extent: extent, isSoftMask: isSoftMask, tableBase: base)
    return work.run().flatMap { $0.data.count < raw.count ? $0 : nil }
  }

  private struct Work {
    let recoder: ImageRecoder
    let image: ImageStream
    let raw: [UInt8]
    let extent: ImageSizes.Extent?
    let isSoftMask: Bool
    let tableBase: String?

    func run() -> ImageRecoding? {
      switch image.filter {
      case "/DCTDecode": ofJPEG()
      case "/CCITTFaxDecode": ofFax()
      case "/JPXDecode": ofJPEG2000()
      // No encoding available here is smaller.
      case "/JBIG2Decode": nil
      default: image.bits == 1 && image.bands == 1 ? ofBits() : ofSamples()
      }
    }

    // MARK: Sizes

    /// Returns the size that an image needs, or its own size if that is about as large.
    private func size(_ resolution: Int, _ tolerance: Double) -> (width: Int, height: Int) {
      guard let extent else { return (image.width, image.height) }
      func side(_ pixels: Int, _ points: Double) -> Int {
        let needed = max(1, (points / 72 * Double(resolution)).rounded(.up))
        return Double(pixels) > needed * tolerance ? Int(needed) : pixels
      }
      return (side(image.width, extent.width), side(image.height, extent.height))
    }

    private var size: (width: Int, height: Int) { size(recoder.resolution, ImageRecoder.tolerance) }

    private func isSmaller(_ size: (width: Int, height: Int)) -> Bool {
      size.width < image.width || size.height < image.height
    }

    private func fitted(_ samples: Samples, _ size: (width: Int, height: Int)) -> Samples? {
      let isClose =
        Double(samples.width) <= Double(size.width) * 1.02 && Double(samples.height) <= Double(size.height) * 1.02
      return isClose
        ? samples
        : recoder.library.resized(samples, to: min(samples.width, size.width), min(samples.height, size.height))
    }

    // MARK: By encoding

    private func ofJPEG() -> ImageRecoding? {
      guard let bytes = image.object.dataBeforeLastFilter(), let jpeg = JPEG(bytes), jpeg.width == image.width,
        jpeg.height == image.height, image.parameters == nil
      else { return nil }
      let size = size
      let isComparable = if case .components(jpeg.components) = image.colours { extent != nil } else { false }
      let quality = quality
      if isComparable,
        isSmaller(size) || 10 * jpeg.coarseness < 9 * JPEG.coarseness(ofQuality: quality),
        let samples = jpeg.samples(atLeast: size.width, size.height),
        let fitted = fitted(samples, size),
        let made = jpegCoding(of: fitted, quality: quality, isSubsampled: true)
      {
        // Lossless repacking saves about a tenth: it is preferred unless re-encoding saves more than a fifth.
        if isSmaller(size) || 10 * made.data.count < 8 * raw.count { return made }
      }
      return jpeg.repacked().map { ImageRecoding(jpeg: $0, image.width, image.height) }
    }

    /// The JPEG quality. Soft masks need sharp edges.
    private var quality: Int { isSoftMask ? max(recoder.quality, 75) : recoder.quality }

    private func ofJPEG2000() -> ImageRecoding? {
      guard case .components(let count) = image.colours, extent != nil, image.object.filters.count == 1 else {
        return nil
      }
      guard let samples = recoder.library.samples(jpeg2000: raw), samples.bands == count, samples.width == image.width,
        samples.height == image.height, let fitted = fitted(samples, size)
      else { return nil }
      let made = jpegCoding(of: fitted, quality: quality, isSubsampled: true)
      return made.flatMap { 10 * $0.data.count < 8 * raw.count ? $0 : nil }
    }

    private func ofFax() -> ImageRecoding? {
      let parameters = image.parameters
      guard image.bands == 1, image.object.filters.count == 1, parameters?["/Columns"]?.integer ?? 1728 == image.width,
        // Group 3 has several ways to end rows.
        parameters?["/K"]?.integer ?? 0 < 0, parameters?["/EncodedByteAlign"]?.isTrue != true,
        let white = recoder.library.samples(fax: raw, width: image.width, height: image.height),
        let bits = Bilevel(white)
      else { return nil }
      return coding(of: parameters?["/BlackIs1"]?.isTrue == true ? bits.inverted : bits)
    }

    private func ofBits() -> ImageRecoding? {
      guard let bits = image.plainBilevel(raw) else { return nil }
      return coding(of: bits)
    }

    private func coding(of bits: Bilevel) -> ImageRecoding? {
      let needed = size(
        max(ImageRecoder.leastBilevelResolution, 2 * recoder.resolution), ImageRecoder.bilevelTolerance)
      var bits = bits
      if case .components = image.colours {
        if isSmaller(needed),
          let smaller = bits.reduced(to: needed.width, needed.height, inkIsSet: image.isInkHigh != isSoftMask)
        {
          bits = smaller
        }
        return ImageRecoding(bilevel: bits)
      }
      let data = recoder.deflate.compress(bits.bytes)
      return ImageRecoding(plain: data, bits.width, bits.height, bits: 1)
    }

    private func ofSamples() -> ImageRecoding? {
      // Samples are one byte here; the second one may only be dropped if loss is permitted.
      if image.bits == 16, extent == nil { return nil }
      guard let whole = image.plainSamples(raw) else { return nil }
      let size = size
      // Drawings have few colours, and keep them.
      let isDrawn = whole.countColours(upTo: ImageRecoder.drawnColours + 1) <= ImageRecoder.drawnColours
      if isDrawn, case .components(1) = image.colours, let bits = Bilevel(whole),
        whole.bytes.allSatisfy({ $0 == 0 || $0 == 255 })
      {
        return coding(of: bits)
      }
      var lossless: ImageRecoding?
      var base: String?
      var samples = whole
      if case .table(let table, let count) = image.colours {
        lossless = isSmaller(size) ? nil : ImageRecoding(plain: recoder.deflate.compress(whole.bytes), whole)
        guard let tableBase, let colours = whole.looked(upIn: table, bands: count) else { return lossless }
        samples = colours
        base = tableBase
      }
      guard extent != nil else { return lossless ?? packed(samples, isDrawn) }
      guard let fitted = fitted(samples, size) else { return lossless }
      samples = fitted
      if lossless == nil, isSoftMask || isDrawn { lossless = packed(samples, isDrawn, base: base) }
      let least = min(lossless?.data.count ?? raw.count, isSmaller(size) ? .max : raw.count)
      let factor = isSoftMask ? 3 : isDrawn ? 5 : 8
      if let lossy = jpegCoding(of: samples, quality: quality, isSubsampled: !isDrawn, base: base),
        10 * lossy.data.count < factor * least
      {
        return lossy
      }
      return lossless ?? packed(samples, isDrawn, base: base)
    }

    // MARK: Encodings

    private func jpegCoding(
      of samples: Samples, quality: Int, isSubsampled: Bool, base: String? = nil
    ) -> ImageRecoding? {
      JPEG.bytes(of: samples, quality: quality, isSubsampled: isSubsampled)
        .map { ImageRecoding(jpeg: $0, samples.width, samples.height, base: base) }
    }

    /// Returns a lossless encoding. Drawings are encoded without a predictor if that is smaller.
    private func packed(_ samples: Samples, _ isDrawn: Bool, base: String? = nil) -> ImageRecoding? {
      let deflate = recoder.deflate
      let predicted = deflate.compress(Prediction.applied(to: samples))
      let plain = isDrawn ? deflate.compress(samples.bytes) : []
      if isDrawn, plain.count <= predicted.count { return ImageRecoding(plain: plain, samples, base: base) }
      return ImageRecoding(plain: predicted, samples, base: base, isPredicted: true)
    }
  }
}

extension ImageRecoding {
  /// - Parameter base: the base colour space of a colour table.
  fileprivate init(jpeg data: [UInt8], _ width: Int, _ height: Int, base: String? = nil) {
    self.init(entries: Self.entries(width, height, 8, "/DCTDecode", base), data: data)
  }

  fileprivate init(plain data: [UInt8], _ width: Int, _ height: Int, bits: Int) {
    self.init(entries: Self.entries(width, height, bits, "/FlateDecode", nil), data: data)
  }

  fileprivate init(plain data: [UInt8], _ samples: Samples, base: String? = nil, isPredicted: Bool = false) {
    var entries = Self.entries(samples.width, samples.height, 8, "/FlateDecode", base)
    if isPredicted {
      let parameters = "<< /Predictor 15 /Colors \(samples.bands) /Columns \(samples.width) >>"
      entries.append(("/DecodeParms", parameters))
    }
    self.init(entries: entries, data: data)
  }

  fileprivate init(bilevel bits: Bilevel) {
    self.init(entries: Self.entries(bits.width, bits.height, 1, "/JBIG2Decode", nil), data: JBIG2.bytes(of: bits))
  }

  private static func entries(
    _ width: Int, _ height: Int, _ bits: Int, _ filter: String, _ base: String?
  ) -> [(key: String, value: String)] {
    let entries = [
      ("/Width", "\(width)"), ("/Height", "\(height)"), ("/BitsPerComponent", "\(bits)"), ("/Filter", filter),
    ]
    return entries + (base.map { [("/ColorSpace", $0)] } ?? [])
  }
}
