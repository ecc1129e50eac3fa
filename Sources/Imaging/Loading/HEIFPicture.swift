package import TileStorage
import ZigguratCHEIF
import ZigguratFiles

/// Properties of a HEIF or AVIF file's primary picture that libvips passes over.
package struct HEIFPicture: Sendable {
  /// The values of its `nclx` box, as ITU-T H.273 numbers them (8.1, 8.2); nil if there is no such box.
  package let points: (primaries: Int, transfer: Int)?
  /// Whether colours are multiplied by alpha (ISO/IEC 23008-12, the reference `prem`).
  package let isPremultiplied: Bool
  /// Whether the picture is gray of limited range (ITU-T H.273, 8.3), which libheif 1.15 takes as of full range.
  package let isLimitedGray: Bool
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
      Self.auxiliaries(handle) + Self.namesOfBoxes(path)
      + (others == 0 ? [] : ["\(others) further \(others == 1 ? "picture" : "pictures")"])
    var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
    guard heif_image_handle_get_nclx_color_profile(handle, &profile).code == heif_error_Ok, let profile else {
      points = nil
      isLimitedGray = Self.isMonochrome(path) && Self.isDecodedToLimitedRange(handle)
      return
    }
    defer { heif_nclx_color_profile_free(profile) }
    points = (
      Int(profile.pointee.color_primaries.rawValue), Int(profile.pointee.transfer_characteristics.rawValue)
    )
    isLimitedGray = profile.pointee.full_range_flag == 0 && Self.isMonochrome(path)
  }

  /// Returns the damage of an AVIF file's coded data; nil if they are sound, or the file is another.
  ///
  /// AV1 has no checksums, but the bits behind the last symbol of a tile have fixed values (AV1 specification, 8.2.4),
  /// and hardly any damage leaves the decoder at the right bit there. dav1d, by which libheif decodes, does not look at
  /// them; libaom does.
  package static func damage(ofFileAt path: String) -> SourceDamage? {
    guard holdsAV1(path), hasDecoder("aom"), let context = heif_context_alloc() else { return nil }
    defer { heif_context_free(context) }
    var handle: OpaquePointer?
    guard heif_context_read_from_file(context, path, nil).code == heif_error_Ok,
      heif_context_get_primary_image_handle(context, &handle).code == heif_error_Ok, let handle,
      let options = heif_decoding_options_alloc()
    else { return nil }
    defer {
      heif_decoding_options_free(options)
      heif_image_handle_release(handle)
    }
    options.pointee.ignore_transformations = 1
    var image: OpaquePointer?
    let error = "aom".withCString { name in
      options.pointee.decoder_id = name
      return heif_decode_image(handle, &image, heif_colorspace_undefined, heif_chroma_undefined, options)
    }
    if let image { heif_image_release(image) }
    // Other errors are about features that libaom does not decode.
    guard error.code != heif_error_Ok, let message = error.message.map({ String(cString: $0) }),
      let reason = message.firstRange(of: "Corrupt frame")
    else { return nil }
    return SourceDamage(.error, "the AVIF file is damaged (\(message[reason.lowerBound...]))")
  }

  private static func hasDecoder(_ name: String) -> Bool {
    var decoders = [OpaquePointer?](repeating: nil, count: 16)
    let count = heif_get_decoder_descriptors(heif_compression_AV1, &decoders, Int32(decoders.count))
    return decoders.prefix(Int(count)).contains { decoder in
      heif_decoder_descriptor_get_id_name(decoder).map { String(cString: $0) } == name
    }
  }

  private static func holdsAV1(_ path: String) -> Bool {
    var isThere = false
    eachBox(of: path) { name, content in
      if name == "meta", content().firstRange(of: Array("av1C".utf8)) != nil { isThere = true }
    }
    return isThere
  }

  /// Whether every coded picture of the file is monochrome, by its codec's configuration (AV1 in ISOBMFF, 2.3.3;
  /// ISO/IEC 14496-15, 8.3.3.1.2). A file with colours has one that is not.
  private static func isMonochrome(_ path: String) -> Bool {
    var answers: [Bool] = []
    eachBox(of: path) { name, content in
      guard name == "meta" else { return }
      let bytes = content()
      for at in 0..<max(0, bytes.count - 21) where bytes[at + 3] == UInt8(ascii: "C") {
        if bytes[at..<at + 4].elementsEqual("av1C".utf8) { answers.append(bytes[at + 6] & 0x10 != 0) }
        if bytes[at..<at + 4].elementsEqual("hvcC".utf8) { answers.append(bytes[at + 20] & 3 == 0) }
      }
    }
    return !answers.isEmpty && answers.allSatisfy(\.self)
  }

  /// Whether the decoded picture is of limited range. Without an `nclx` box, the coded picture alone has the flag.
  private static func isDecodedToLimitedRange(_ handle: OpaquePointer) -> Bool {
    var image: OpaquePointer?
    guard
      heif_decode_image(handle, &image, heif_colorspace_undefined, heif_chroma_undefined, nil).code
        == heif_error_Ok, let image
    else { return false }
    defer { heif_image_release(image) }
    var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
    guard heif_image_get_nclx_color_profile(image, &profile).code == heif_error_Ok, let profile else {
      return false
    }
    defer { heif_nclx_color_profile_free(profile) }
    return profile.pointee.full_range_flag == 0
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

  /// The frames of a sequence, the video of a motion photo (`mpvd`), and the item of a gain map (ISO 21496-1), which
  /// this libheif does not know.
  private static func namesOfBoxes(_ path: String) -> [String] {
    var names: [String] = []
    eachBox(of: path) { name, content in
      switch name {
      case "moov": names.append("frames of an animation")
      case "mpvd": names.append("video of a motion photo")
      case "meta": if content().firstRange(of: Array("tmap".utf8)) != nil { names.append("gain map") }
      default: break
      }
    }
    return names
  }

  /// Calls `body` for each box at the top level of the file, with its name and a function that reads up to 1 MiB of it.
  private static func eachBox(of path: String, _ body: (_ name: String, _ content: () -> [UInt8]) -> Void) {
    guard let file = ReadableFile(path: path) else { return }
    var place = 0
    for _ in 0..<100 {
      let head = file.bytes(from: place, atMost: 16)
      guard head.count >= 8 else { return }
      var size = ByteOrder.big.number(head, at: 0, 4)
      if size == 1, head.count == 16 { size = ByteOrder.big.number(head, at: 8, 8) }
      body(String(decoding: head[4..<8], as: UTF8.self)) {
        file.bytes(from: place, atMost: min(size, 1 << 20))
      }
      guard size >= 8, place <= Int.max - size else { return }
      place += size
    }
  }
}
