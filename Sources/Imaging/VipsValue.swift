import ZigguratCVips

/// A value of an operation's argument, as Swift has it.
enum VipsValue {
  case int(Int)
  case double(Double)
  case bool(Bool)
  case string(String)
  /// A member of an enumeration by its short name: `sequential`.
  case name(String)
  case image(Image)
  case images([Image])
  /// A `VipsImageSource`.
  case source(UnsafeMutableRawPointer)
  case doubles([Double])
  case ints([Int32])
  /// Encoded bytes, copied.
  case blob(UnsafeRawBufferPointer)

  /// Writes the value into `value`, which has the argument's type; false where the two do not fit.
  func write(to value: inout GValue) -> Bool {
    switch self {
    case .int(let number):
      if holds(&value, fundamentalInt) {
        g_value_set_int(&value, Int32(clamping: number))
        return true
      }
      if holds(&value, fundamentalUInt64) {
        g_value_set_uint64(&value, UInt(clamping: number))
        return true
      }
      return false
    case .double(let number): g_value_set_double(&value, number)
    case .bool(let flag): g_value_set_boolean(&value, flag ? 1 : 0)
    case .string(let text): g_value_set_string(&value, text)
    case .name(let nick):
      let number = vips_enum_from_nick("ziggurat", value.g_type, nick)
      if number < 0 { return false }
      if g_type_is_a(value.g_type, fundamentalFlags) != 0 {
        g_value_set_flags(&value, UInt32(number))
      } else {
        g_value_set_enum(&value, number)
      }
    case .image(let image): g_value_set_object(&value, image.pointer)
    case .source(let source): g_value_set_object(&value, source)
    case .images(let images):
      vips_value_set_array_image(&value, Int32(images.count))
      let places = vips_value_get_array_image(&value, nil)
      for (index, image) in images.enumerated() { places?[index] = image.retained() }
    case .blob(let bytes):
      let blob = vips_blob_copy(bytes.baseAddress, bytes.count)
      g_value_set_boxed(&value, blob)
      vips_area_unref(UnsafeMutableRawPointer(blob)?.assumingMemoryBound(to: VipsArea.self))
    case .ints(let numbers): vips_value_set_array_int(&value, numbers, Int32(numbers.count))
    case .doubles(let numbers): vips_value_set_array_double(&value, numbers, Int32(numbers.count))
    }
    return true
  }

  private func holds(_ value: inout GValue, _ type: GType) -> Bool { value.g_type == type }
}

// GLib's fundamental types are macros that Swift does not import: n << G_TYPE_FUNDAMENTAL_SHIFT.
private let fundamentalInt = GType(6 << 2)
private let fundamentalUInt64 = GType(11 << 2)
private let fundamentalFlags = GType(13 << 2)
