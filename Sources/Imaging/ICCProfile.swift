import ZigguratCLCMS

/// The header and the name of an ICC profile, read by LittleCMS.
package struct ICCProfile {
  /// The colour space that it describes, four letters (ICC.1:2010, 7.2.6): `RGB `, `GRAY`, `CMYK`, `Lab `.
  package let colourSpace: String
  /// Its name, as editors show it; nil where it has none that can be read.
  package let description: String?

  /// `nil` if the bytes are no profile.
  package init?(_ bytes: [UInt8]) {
    // LittleCMS keeps a copy of the bytes.
    let opened = bytes.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, cmsUInt32Number($0.count)) }
    guard let profile = opened else { return nil }
    defer { cmsCloseProfile(profile) }
    let space = cmsGetColorSpace(profile).rawValue
    colourSpace = String(
      decoding: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: space >> $0) }, as: UTF8.self)
    description = Self.description(profile)
  }

  /// Whether LittleCMS can convert colours by the profile. It cannot if required tags of the profile's class are
  /// missing.
  package static func isUsable(_ bytes: [UInt8]) -> Bool {
    let opened = bytes.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, cmsUInt32Number($0.count)) }
    guard let profile = opened, let target = cmsCreate_sRGBProfile() else {
      if let opened { cmsCloseProfile(opened) }
      return false
    }
    defer {
      cmsCloseProfile(profile)
      cmsCloseProfile(target)
    }
    let space = cmsGetColorSpace(profile)
    // TYPE_RGB_8 and its like, macros that Swift does not import.
    let format =
      cmsUInt32Number(_cmsLCMScolorSpace(space)) << 16 | cmsUInt32Number(cmsChannelsOf(space)) << 3 | 1
    let rgb = cmsUInt32Number(PT_RGB) << 16 | 3 << 3 | 1
    guard
      let transform = cmsCreateTransform(
        profile, format, target, rgb, cmsUInt32Number(INTENT_PERCEPTUAL), 0)
    else { return false }
    cmsDeleteTransform(transform)
    return true
  }

  /// Returns the name, which is untrusted and shown in terminals.
  private static func description(_ profile: cmsHPROFILE) -> String? {
    let byteCount = cmsGetProfileInfo(profile, cmsInfoDescription, "en", "US", nil, 0)
    guard byteCount > 0, byteCount <= 65_536 else { return nil }
    var characters = [wchar_t](repeating: 0, count: Int(byteCount) / MemoryLayout<wchar_t>.size + 1)
    cmsGetProfileInfo(profile, cmsInfoDescription, "en", "US", &characters, byteCount)
    let scalars = characters.prefix { $0 != 0 }
      .compactMap { UInt32(exactly: $0).flatMap(Unicode.Scalar.init) }
      .filter { $0.properties.generalCategory != .control }
    var name = String.UnicodeScalarView()
    name.append(contentsOf: scalars)
    return name.isEmpty ? nil : String(String(name).prefix(80))
  }
}
