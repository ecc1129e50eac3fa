import ZigguratCHEIF

/// The metadata items of a HEIF or AVIF file's primary picture (ISO/IEC 23008-12, annex A).
///
/// Exiv2 0.27 does not read EXIF in an item that does not begin with `Exif`. Nor does it read XMP in the places where
/// ExifTool writes it.
struct HEIFItems {
  /// EXIF data in the form of TIFF files.
  private(set) var exif: [[UInt8]] = []
  private(set) var xmp: [[UInt8]] = []

  /// The maximum number of items that are read, and the maximum size of each in bytes.
  private static let (maxItems, maxLength) = (Int32(64), 16 << 20)

  /// Reads the items; none if the file is of another format, or cannot be read.
  init(path: String) {
    guard let context = heif_context_alloc() else { return }
    defer { heif_context_free(context) }
    var handle: OpaquePointer?
    guard heif_context_read_from_file(context, path, nil).code == heif_error_Ok,
      heif_context_get_primary_image_handle(context, &handle).code == heif_error_Ok, let handle
    else { return }
    defer { heif_image_handle_release(handle) }
    var ids = [heif_item_id](repeating: 0, count: Int(Self.maxItems))
    let count = heif_image_handle_get_list_of_metadata_block_IDs(handle, nil, &ids, Self.maxItems)
    for id in ids.prefix(Int(max(0, count))) {
      let size = heif_image_handle_get_metadata_size(handle, id)
      guard let type = heif_image_handle_get_metadata_type(handle, id).map({ String(cString: $0) }),
        4..<Self.maxLength ~= size
      else { continue }
      var bytes = [UInt8](repeating: 0, count: size)
      guard heif_image_handle_get_metadata(handle, id, &bytes).code == heif_error_Ok else { continue }
      let content = heif_image_handle_get_metadata_content_type(handle, id).map { String(cString: $0) }
      if type == "Exif", let tiff = Self.tiff(bytes) { exif.append(tiff) }
      if type == "mime", content == "application/rdf+xml" { xmp.append(bytes) }
    }
  }

  /// Returns the TIFF file in an EXIF item, whose first four bytes are the offset of the TIFF file behind them.
  private static func tiff(_ item: [UInt8]) -> [UInt8]? {
    let offset = item[..<4].reduce(0) { $0 << 8 | Int($1) }
    let starts =
      offset <= item.count - 4 ? [item.dropFirst(4 + offset), item.dropFirst(4)] : [item.dropFirst(4)]
    let found = starts.first { $0.starts(with: "II*\0".utf8) || $0.starts(with: "MM\0*".utf8) }
    return found.map(Array.init)
  }
}
