/// A picture of audio. Shows the peaks of each moment, and its mean loudness in a stronger tone.
struct Waveform {
  let width: Int
  let height: Int
  /// Red, green, blue and opacity of each pixel.
  private(set) var pixels: [UInt8]

  private static let colour: [UInt8] = [0x2a, 0x6f, 0xb5]
  private static let peakOpacity: Float = 0.45

  init(_ loudness: Loudness, width: Int, height: Int) {
    self.width = width
    self.height = height
    pixels = [UInt8](repeating: 0, count: width * height * 4)
    let half = Float(height) / 2
    for (column, piece) in loudness.columns(width).enumerated() {
      // Silence is a thin line.
      let top = half - max(0.5, min(1, piece.highest) * half)
      let bottom = half + max(0.5, min(1, -piece.lowest) * half)
      let middle = min(1, piece.middle) * half
      for row in 0..<height {
        let peak = Self.coverage(of: row, top, bottom)
        let heard = Self.coverage(of: row, max(top, half - middle), min(bottom, half + middle))
        let opacity = heard + (1 - heard) * peak * Self.peakOpacity
        guard opacity > 0 else { continue }
        let place = (row * width + column) * 4
        for (offset, value) in Self.colour.enumerated() { pixels[place + offset] = value }
        pixels[place + 3] = UInt8(opacity * 255 + 0.5)
      }
    }
  }

  /// Returns the share of a row that is between two heights.
  private static func coverage(of row: Int, _ top: Float, _ bottom: Float) -> Float {
    max(0, min(1, min(bottom, Float(row + 1)) - max(top, Float(row))))
  }
}
