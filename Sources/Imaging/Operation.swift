import ZigguratCVips

/// The one generic call of a libvips operation, by name and with properties, as in pyvips and ruby-vips. libvips
/// advises bindings not to use its C convenience functions.
struct Operation {
  private let name: String
  private let subject: String
  private let pointer: UnsafeMutablePointer<VipsOperation>

  /// - Parameter subject: the subject of errors, usually a file's name.
  init(_ name: String, _ subject: String) throws(ImagingError) {
    Vips.start()
    guard let pointer = vips_operation_new(name) else { throw ImagingError.take(name, subject) }
    self.name = name
    self.subject = subject
    self.pointer = pointer
  }

  /// Runs `name` and returns its image `out`.
  static func run(
    _ name: String, _ subject: String, _ arguments: KeyValuePairs<String, VipsValue>
  ) throws(ImagingError) -> Image {
    try run(name, subject, arguments.map { ($0.key, $0.value) })
  }

  static func run(
    _ name: String, _ subject: String, _ arguments: [(String, VipsValue)]
  ) throws(ImagingError) -> Image {
    try run(name, subject, arguments) { (built) throws(ImagingError) in
      try built.imageOutput("out", subject)
    }
  }

  private static func run<Result>(
    _ name: String, _ subject: String, _ arguments: [(String, VipsValue)],
    _ read: (Built) throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    let operation = try Operation(name, subject)
    for (key, value) in arguments { try operation.set(key, value) }
    return try operation.build(read)
  }

  /// Runs `name` and returns its blob `buffer`, copied.
  static func runToBuffer(
    _ name: String, _ subject: String, _ arguments: KeyValuePairs<String, VipsValue>
  ) throws(ImagingError) -> [UInt8] {
    try run(name, subject, arguments.map { ($0.key, $0.value) }) { (built) throws(ImagingError) in
      try built.blobOutput("buffer", subject)
    }
  }

  /// Runs `name` and returns its number `out`.
  static func runToNumber(
    _ name: String, _ subject: String, _ arguments: KeyValuePairs<String, VipsValue>
  ) throws(ImagingError) -> Double {
    try run(name, subject, arguments.map { ($0.key, $0.value) }) { (built) throws(ImagingError) in
      built.doubleOutput("out")
    }
  }

  private var object: UnsafeMutablePointer<GObject> {
    UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GObject.self)
  }

  /// Sets one input. A value out of the argument's range is an error, not a warning on stderr.
  func set(_ key: String, _ argument: VipsValue) throws(ImagingError) {
    func refuse(_ why: String) -> ImagingError {
      g_object_unref(pointer)
      return ImagingError(name, subject, message: "argument \(key) \(why)")
    }
    let type = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: GTypeInstance.self).pointee.g_class
    let objectClass = UnsafeMutableRawPointer(type!).assumingMemoryBound(to: GObjectClass.self)
    guard let specification = g_object_class_find_property(objectClass, key) else {
      throw refuse("is unknown")
    }
    var value = GValue()
    g_value_init(&value, specification.pointee.value_type)
    defer { g_value_unset(&value) }
    guard argument.write(to: &value) else { throw refuse("has the wrong type") }
    // GObject's validation changes a value that is out of range, and reports that. A changed value is an error.
    if case .image = argument {
    } else if g_param_value_validate(specification, &value) != 0 {
      throw refuse("is out of range")
    }
    g_object_set_property(object, key, &value)
  }

  /// Builds the operation, reads its results by `read`, and releases it.
  private func build<Result>(
    _ read: (Built) throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    var operation: UnsafeMutablePointer<VipsOperation>? = pointer
    guard vips_cache_operation_buildp(&operation) == 0, let built = operation else {
      vips_object_unref_outputs(UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: VipsObject.self))
      g_object_unref(pointer)
      throw ImagingError.take(name, subject)
    }
    defer {
      vips_object_unref_outputs(UnsafeMutableRawPointer(built).assumingMemoryBound(to: VipsObject.self))
      g_object_unref(built)
    }
    return try read(
      Built(name: name, object: UnsafeMutableRawPointer(built).assumingMemoryBound(to: GObject.self)))
  }

  /// An operation that has run.
  struct Built {
    let name: String
    let object: UnsafeMutablePointer<GObject>

    /// Returns the result of `read` for an output of a type.
    private func output<Value>(_ key: String, _ type: GType, _ read: (inout GValue) -> Value) -> Value {
      var value = GValue()
      g_value_init(&value, type)
      defer { g_value_unset(&value) }
      g_object_get_property(object, key, &value)
      return read(&value)
    }

    func imageOutput(_ key: String, _ subject: String) throws(ImagingError) -> Image {
      guard let image = output(key, vips_image_get_type(), { g_value_dup_object(&$0) }) else {
        throw ImagingError(name, subject, message: "no output \(key)")
      }
      return Image(owning: image.assumingMemoryBound(to: VipsImage.self), subject: subject)
    }

    func doubleOutput(_ key: String) -> Double {
      // G_TYPE_DOUBLE is a macro that Swift does not import.
      output(key, GType(15 << 2)) { g_value_get_double(&$0) }
    }

    func blobOutput(_ key: String, _ subject: String) throws(ImagingError) -> [UInt8] {
      let bytes = output(key, vips_blob_get_type()) { value -> [UInt8]? in
        var size = 0
        return vips_value_get_blob(&value, &size).map {
          Array(UnsafeRawBufferPointer(start: $0, count: size))
        }
      }
      guard let bytes else { throw ImagingError(name, subject, message: "no output \(key)") }
      return bytes
    }
  }
}
