import CHEIF

/// The colours that a HEIF or AVIF file's `nclx` box tells, which libvips passes over.
package struct HEIFColours: Hashable, Sendable {
  /// As ITU-T H.273 numbers them (8.1, 8.2).
  package let primaries: Int
  package let transfer: Int

  /// Nil where the file's first picture has no such box.
  package init?(path: String) {
    guard let context = heif_context_alloc() else { return nil }
    defer { heif_context_free(context) }
    var handle: OpaquePointer?
    guard heif_context_read_from_file(context, path, nil).code == heif_error_Ok,
      heif_context_get_primary_image_handle(context, &handle).code == heif_error_Ok, let handle
    else { return nil }
    defer { heif_image_handle_release(handle) }
    var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
    guard heif_image_handle_get_nclx_color_profile(handle, &profile).code == heif_error_Ok, let profile
    else { return nil }
    defer { heif_nclx_color_profile_free(profile) }
    primaries = Int(profile.pointee.color_primaries.rawValue)
    transfer = Int(profile.pointee.transfer_characteristics.rawValue)
  }
}
