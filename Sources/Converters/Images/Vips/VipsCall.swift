internal import CVips
internal import Catalogue
internal import WorkerKit

/// A libvips operation: arguments by name, then a run.
///
/// libvips exports each operation as a variadic C function, which Swift cannot call.
@safe struct VipsCall: ~Copyable {
  private var operation: UnsafeMutablePointer<VipsOperation>

  init(_ name: String) throws(JobFailure) {
    guard let operation = unsafe vips_operation_new(name) else {
      throw JobFailure(.unsupported, "needs a feature that this system's libvips lacks", saying: Vips.takeError())
    }
    unsafe self.operation = operation
  }

  deinit {
    unsafe vips_object_unref_outputs(cast())
    unsafe g_object_unref(operation)
  }

  private func cast<Object>() -> UnsafeMutablePointer<Object> {
    unsafe UnsafeMutableRawPointer(operation).assumingMemoryBound(to: Object.self)
  }

  /// Sets a number, a boolean, or the nickname of an enumeration value.
  func set(_ name: String, _ value: some CustomStringConvertible) {
    _ = unsafe vips_object_set_argument_from_string(cast(), name, value.description)
  }

  func set(_ name: String, _ image: VipsPicture) { unsafe set(name, image.pointer, vips_image_get_type()) }

  func set(_ name: String, _ images: [VipsPicture]) {
    var pointers: [UnsafeMutablePointer<VipsImage>?] = unsafe images.map { unsafe $0.pointer }
    // The array retains the images.
    guard let array = unsafe vips_array_image_new(&pointers, Int32(pointers.count)) else { return }
    var value = GValue()
    unsafe g_value_init(&value, vips_array_image_get_type())
    unsafe g_value_take_boxed(&value, array)
    unsafe g_object_set_property(cast(), name, &value)
    unsafe g_value_unset(&value)
  }

  func set(_ name: String, source: UnsafeMutablePointer<VipsSource>) {
    unsafe set(name, source, vips_source_get_type())
  }

  func set(_ name: String, target: UnsafeMutablePointer<VipsTarget>) {
    unsafe set(name, target, vips_target_get_type())
  }

  private func set(_ name: String, _ object: UnsafeMutableRawPointer, _ type: GType) {
    var value = GValue()
    unsafe g_value_init(&value, type)
    unsafe g_value_set_object(&value, object)
    unsafe g_object_set_property(cast(), name, &value)
    unsafe g_value_unset(&value)
  }

  mutating func run(failure: JobAnswer.Failure = .damaged, _ reason: String = "cannot be decoded") throws(JobFailure) {
    var built: UnsafeMutablePointer<VipsOperation>? = unsafe operation
    let status = unsafe vips_cache_operation_buildp(&built)
    if let built = unsafe built { unsafe operation = built }
    guard status == 0 else { throw JobFailure(failure, reason, saying: Vips.takeError()) }
  }

  /// Runs the operation and returns its output.
  mutating func result(_ name: String = "out") throws(JobFailure) -> VipsPicture {
    try run()
    var value = GValue()
    unsafe g_value_init(&value, vips_image_get_type())
    defer { unsafe g_value_unset(&value) }
    unsafe g_object_get_property(cast(), name, &value)
    guard let object = unsafe g_value_dup_object(&value) else { throw JobFailure(.damaged, "cannot be decoded") }
    return unsafe VipsPicture(object.assumingMemoryBound(to: VipsImage.self))
  }
}
