import ZigguratCVips

extension Image {
  /// The embedded ICC profile, or nil.
  package var embeddedProfile: [UInt8]? {
    var data: UnsafeRawPointer?
    var size = 0
    guard hasField("icc-profile-data"), vips_image_get_blob(pointer, "icc-profile-data", &data, &size) == 0,
      let data
    else { return nil }
    return Array(UnsafeRawBufferPointer(start: data, count: size))
  }

  /// Says that the pixels are in the space of `profile`; of an image that nobody else has.
  package func setProfile(_ profile: [UInt8]) {
    vips_image_set_blob_copy(pointer, "icc-profile-data", profile, profile.count)
  }

  /// Forgets the embedded profile; of an image that nobody else has.
  package func removeProfile() { vips_image_remove(pointer, "icc-profile-data") }

  /// Adds a header field of the caller's own; of an image that nobody else has.
  package func setString(_ name: String, _ text: String) { vips_image_set_string(pointer, name, text) }

  private static let decoderMemoryField = "ziggurat-decoder-megabytes"

  /// Bytes that a decoder takes which holds the whole picture; 0 for any other.
  package var decoderMemory: Int { (int(Self.decoderMemoryField) ?? 0) << 20 }

  /// Says how many bytes the decoder takes; of an image that nobody else has.
  package func setDecoderMemory(_ bytes: Int) { setInt(Self.decoderMemoryField, bytes >> 20 + 1) }

  /// 8-bit RGB pixels, packed, that are said to be in the space of `profile`.
  package convenience init(pixels: [UInt8], width: Int, height: Int, profile: [UInt8]) {
    self.init(copying: pixels, width: width, height: height, bands: .rgb)
    setProfile(profile)
  }
}
