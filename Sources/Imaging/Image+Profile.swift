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

  /// Sets the colour space of the pixels to `profile`. The image must not be shared.
  package func setProfile(_ profile: [UInt8]) {
    vips_image_set_blob_copy(pointer, "icc-profile-data", profile, profile.count)
  }

  /// Removes the embedded profile. The image must not be shared.
  package func removeProfile() { vips_image_remove(pointer, "icc-profile-data") }

  /// Adds a header field of the caller. The image must not be shared.
  package func setString(_ name: String, _ text: String) { vips_image_set_string(pointer, name, text) }

  private static let decoderMemoryField = "ziggurat-decoder-megabytes"

  /// Bytes that a decoder takes which holds the whole picture; 0 for any other.
  package var decoderMemory: Int { (int(Self.decoderMemoryField) ?? 0) << 20 }

  /// Sets the decoder's memory in bytes. The image must not be shared.
  package func setDecoderMemory(_ bytes: Int) { setInt(Self.decoderMemoryField, bytes >> 20 + 1) }

  /// 8-bit RGB pixels, packed, that are said to be in the space of `profile`.
  package convenience init(pixels: [UInt8], width: Int, height: Int, profile: [UInt8]) {
    self.init(copying: pixels, width: width, height: height, bands: .rgb)
    setProfile(profile)
  }
}
