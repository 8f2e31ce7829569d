internal import CVips
internal import Catalogue
internal import WorkerKit

extension ImageChanges {
  /// Returns the part to keep of a picture with these sides. Returns `nil` for all of it.
  func rectangle(_ width: Int, _ height: Int) throws(JobFailure) -> ImageArea.Rectangle? {
    guard area != nil || ratio != nil else { return nil }
    var (left, top, right, bottom) = (0, 0, width, height)
    if let area {
      (left, top) = (area.left, area.top)
      (right, bottom) = (min(width, left + area.width), min(height, top + area.height))
      guard left < right, top < bottom else {
        throw JobFailure(.unsupported, "has \(width) × \(height) pixels, and none where it is to be cropped")
      }
    }
    guard let ratio else {
      return ImageArea.Rectangle(width: right - left, height: bottom - top, left: left, top: top)
    }
    let inner = ratio.rectangle(right - left, bottom - top)
    return ImageArea.Rectangle(
      width: inner.width, height: inner.height, left: left + inner.left, top: top + inner.top)
  }
}

extension VipsPicture {
  /// Returns the requested part of each frame.
  func cropped(by changes: ImageChanges) throws(JobFailure) -> VipsPicture {
    guard let part = try changes.rectangle(width, frameHeight) else { return self }
    return try mappingFrames { (frame) throws(JobFailure) in try frame.part(part) }
  }

  private func part(_ part: ImageArea.Rectangle) throws(JobFailure) -> VipsPicture {
    try applying(
      "crop", to: "input",
      ["left": "\(part.left)", "top": "\(part.top)", "width": "\(part.width)", "height": "\(part.height)"])
  }

  /// Returns each frame scaled down to fit, if it is larger.
  func scaled(within width: Int, _ height: Int) throws(JobFailure) -> VipsPicture {
    guard width < self.width || height < frameHeight else { return self }
    let isInked = interpretation == VIPS_INTERPRETATION_CMYK
    return try (isInked ? inSRGB() : self).mappingFrames { (frame) throws(JobFailure) in
      try frame.applying("thumbnail_image", ["width": "\(width)", "height": "\(height)", "size": "down"])
    }
  }

  /// Returns the picture rotated and mirrored, then cut to the requested tile.
  func turned(by changes: ImageChanges) throws(JobFailure) -> VipsPicture {
    guard changes.turn != nil || changes.isFlipped || changes.isMirrored || changes.tile != nil else { return self }
    return try mappingFrames { (frame) throws(JobFailure) in
      var image = try frame.inMemory()
      if let turn = changes.turn { image = try image.applying("rot", ["angle": "d\(turn.rawValue)"]) }
      if changes.isFlipped { image = try image.applying("flip", ["direction": "vertical"]) }
      if changes.isMirrored { image = try image.applying("flip", ["direction": "horizontal"]) }
      guard let tile = changes.tile else { return image }
      guard let part = tile.rectangle(image.width, image.height) else {
        throw JobFailure(
          .unsupported, "has \(image.width) × \(image.height) pixels, too few for the given number of tiles")
      }
      return try image.part(part)
    }
  }
}
