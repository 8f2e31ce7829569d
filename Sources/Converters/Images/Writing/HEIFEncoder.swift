internal import CHeif
internal import Catalogue
internal import WorkerKit

/// The encoders of libheif, which are separate packages since Debian 13.
enum HEIFEncoder {
  case hevc
  case av1

  /// Throws if the encoder is not installed, which libraries report as damaged data.
  func require() throws(JobFailure) {
    let (format, name, package) =
      switch self {
      case .hevc: (heif_compression_HEVC, "HEIC", "libheif-plugin-x265")
      case .av1: (heif_compression_AV1, "AVIF", "libheif-plugin-aomenc")
      }
    guard heif_have_encoder_for_format(format) == 0 else { return }
    throw JobFailure(.unsupported, "needs the encoder for \(name), which is not installed (apt install \(package))")
  }
}
