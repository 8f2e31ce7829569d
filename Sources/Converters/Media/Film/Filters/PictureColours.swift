internal import CFFmpeg

/// The colour properties of encoded pictures, and their conversion from those of decoded ones.
struct PictureColours {
  let range: AVColorRange
  let primaries: AVColorPrimaries
  let transfer: AVColorTransferCharacteristic
  let space: AVColorSpace
  /// The additional parameters of the filter `scale`.
  let scaling: String
  /// The filters before `scale`, for pictures whose brightness exceeds eight bits.
  let toneFilters: [String]
  let remark: String?

  init(_ parameters: AVCodecParameters, keepsFullRange: Bool) {
    let isBright =
      unsafe parameters.color_trc == AVCOL_TRC_SMPTE2084 || parameters.color_trc == AVCOL_TRC_ARIB_STD_B67
    if isBright, unsafe avfilter_get_by_name("zscale") != nil {
      toneFilters = [
        "zscale=t=linear:npl=100", "format=gbrpf32le", "zscale=p=bt709", "tonemap=hable:desat=0",
        "zscale=t=bt709:m=bt709:r=tv", "format=yuv420p",
      ]
      (range, primaries, transfer, space) = (AVCOL_RANGE_MPEG, AVCOL_PRI_BT709, AVCOL_TRC_BT709, AVCOL_SPC_BT709)
      scaling = ""
      remark = "brightness fitted into eight bits"
      return
    }
    toneFilters = []
    remark = isBright ? "too dark, because the installed FFmpeg lacks zscale" : nil
    let wasRGB = unsafe parameters.color_space == AVCOL_SPC_RGB
    unsafe primaries = parameters.color_primaries
    unsafe transfer = parameters.color_trc
    space = wasRGB ? AVCOL_SPC_BT709 : unsafe parameters.color_space
    range = keepsFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    scaling = (wasRGB ? ":out_color_matrix=bt709" : "") + ":out_range=\(keepsFullRange ? "pc" : "tv")"
  }
}
