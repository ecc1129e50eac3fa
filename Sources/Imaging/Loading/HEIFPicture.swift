import CHEIF
import Glibc

/// Properties of a HEIF or AVIF file's primary picture that libvips passes over.
package struct HEIFPicture: Sendable {
  /// The values of its `nclx` box, as ITU-T H.273 numbers them (8.1, 8.2); nil if there is no such box.
  package let points: (primaries: Int, transfer: Int)?
  /// Whether colours are multiplied by alpha (ISO/IEC 23008-12, the reference `prem`).
  package let isPremultiplied: Bool
  /// Names, for reports, of data that belongs to the picture and is not shown.
  package let unshown: [String]

  /// `nil` if the file has no primary picture.
  package init?(path: String) {
    guard let context = heif_context_alloc() else { return nil }
    defer { heif_context_free(context) }
    var handle: OpaquePointer?
    guard heif_context_read_from_file(context, path, nil).code == heif_error_Ok,
      heif_context_get_primary_image_handle(context, &handle).code == heif_error_Ok, let handle
    else { return nil }
    defer { heif_image_handle_release(handle) }
    isPremultiplied = heif_image_handle_is_premultiplied_alpha(handle) != 0
    let others = max(0, Int(heif_context_get_number_of_top_level_images(context)) - 1)
    unshown =
      Self.auxiliaries(handle) + Self.boxes(path)
      + (others == 0 ? [] : ["\(others) further \(others == 1 ? "picture" : "pictures")"])
    var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
    guard heif_image_handle_get_nclx_color_profile(handle, &profile).code == heif_error_Ok, let profile else {
      points = nil
      return
    }
    defer { heif_nclx_color_profile_free(profile) }
    points = (
      Int(profile.pointee.color_primaries.rawValue), Int(profile.pointee.transfer_characteristics.rawValue)
    )
  }

  /// Pictures that describe the pixels of the primary one (ISO/IEC 23008-12, 6.4.4), without its alpha.
  private static func auxiliaries(_ handle: OpaquePointer) -> [String] {
    var names: [String] = []
    if heif_image_handle_has_depth_image(handle) != 0 { names.append("depth map") }
    let filter = Int32(LIBHEIF_AUX_IMAGE_FILTER_OMIT_ALPHA | LIBHEIF_AUX_IMAGE_FILTER_OMIT_DEPTH)
    let count = min(heif_image_handle_get_number_of_auxiliary_images(handle, filter), 32)
    guard count > 0 else { return names }
    var ids = [heif_item_id](repeating: 0, count: Int(count))
    let found = heif_image_handle_get_list_of_auxiliary_image_IDs(handle, filter, &ids, count)
    for id in ids.prefix(Int(found)) {
      var auxiliary: OpaquePointer?
      guard heif_image_handle_get_auxiliary_image_handle(handle, id, &auxiliary).code == heif_error_Ok,
        let auxiliary
      else { continue }
      defer { heif_image_handle_release(auxiliary) }
      var type: UnsafePointer<CChar>?
      guard heif_image_handle_get_auxiliary_type(auxiliary, &type).code == heif_error_Ok,
        let text = type.map({ String(cString: $0) })
      else { continue }
      heif_image_handle_free_auxiliary_types(auxiliary, &type)
      let name =
        text.contains("hdrgainmap") ? "gain map" : text.contains("matte") ? "matte" : "auxiliary picture"
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// Boxes of the file itself: the frames of a sequence, the video of a motion photo (`mpvd`), and the item of
  /// a gain map (ISO 21496-1), which this libheif does not know.
  private static func boxes(_ path: String) -> [String] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var names: [String] = []
    var place = 0
    var head = [UInt8](repeating: 0, count: 16)
    for _ in 0..<100 where pread(descriptor, &head, 16, place) >= 8 {
      let name = String(decoding: head[4..<8], as: UTF8.self)
      var size = head[0..<4].reduce(0) { $0 << 8 | Int($1) }
      if size == 1 { size = head[8..<15].reduce(0) { $0 << 8 | Int($1) } << 8 | Int(head[15]) }
      switch name {
      case "moov": names.append("frames of an animation")
      case "mpvd": names.append("video of a motion photo")
      case "meta":
        var items = [UInt8](repeating: 0, count: min(max(size, 0), 1 << 20))
        let count = pread(descriptor, &items, items.count, place)
        if items.prefix(max(count, 0)).firstRange(of: Array("tmap".utf8)) != nil { names.append("gain map") }
      default: break
      }
      guard size >= 8, place <= Int.max - size else { break }
      place += size
    }
    return names
  }
}
