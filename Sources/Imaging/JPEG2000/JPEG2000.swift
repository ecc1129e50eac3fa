import ZigguratCOpenJPEG
import ZigguratFiles

/// JPEG 2000 (ISO/IEC 15444-1) by OpenJPEG, on the caller's thread alone.
package enum JPEG2000 {
  /// Decodes a codestream, or a JP2 file, to its samples. Samples of components of a lower resolution are repeated.
  ///
  /// - Parameters:
  ///   - maxWidth: the maximum width of the picture, checked before memory is allocated.
  ///   - bands: the required number of components.
  ///   - isPicture: whether to apply a JP2 file's palette and channel order. Signed samples then begin at 0, and
  ///     components with fewer bits are scaled to the range of the others.
  package static func samples(
    _ bytes: UnsafeRawBufferPointer, maxWidth: Int, maxHeight: Int, bands: Int, isPicture: Bool = false
  ) throws(ImagingError) -> CodedSamples {
    // Without a palette's colours and other changes by the JP2 file: the samples belong to a TIFF.
    let flags = isPicture ? 0 : UInt32(OPJ_DPARAMETERS_IGNORE_PCLR_CMAP_CDEF_FLAG)
    return try decoded(bytes, flags: flags, isStrict: true) { (image) throws(ImagingError) in
      let (width, height) = size(of: image)
      guard width > 0, height > 0, width <= maxWidth, height <= maxHeight else {
        throw error("it has \(width) × \(height) pixels instead of \(maxWidth) × \(maxHeight)")
      }
      // A palette makes several components of one.
      guard isPicture || Int(image.pointee.numcomps) == bands else {
        throw error("it has \(image.pointee.numcomps) components instead of \(bands)")
      }
    } use: { (image) throws(ImagingError) in
      guard Int(image.pointee.numcomps) == bands else {
        throw error("it has \(image.pointee.numcomps) components instead of \(bands)")
      }
      return try interleaved(
        UnsafeBufferPointer(start: image.pointee.comps, count: bands), image, isPicture: isPicture)
    }
  }

  /// Returns the part of a damaged or cut-off file that can be decoded, as 8-bit gray or RGB with alpha or without, and
  /// whether its end is missing; nil if nothing can be decoded, or its samples are of another kind.
  package static func part(ofFileAt path: String) -> (image: Image, isCutOff: Bool)? {
    guard let bytes = ReadableFile(path: path)?.contents() else { return nil }
    let image = bytes.withUnsafeBytes { bytes in
      try? decoded(bytes, flags: 0, isStrict: false) { _ in
      } use: { (image) throws(ImagingError) in
        try eightBits(image)
      }
    }
    // The marker of the codestream's end (ITU-T T.800, A.4.3).
    return image.map { ($0, !bytes.suffix(2).elementsEqual([0xff, 0xd9])) }
  }

  private static func eightBits(_ image: UnsafeMutablePointer<opj_image_t>) throws(ImagingError) -> Image {
    let (width, height) = size(of: image)
    let components = UnsafeBufferPointer(start: image.pointee.comps, count: Int(image.pointee.numcomps))
    let isOfYCC = [OPJ_CLRSPC_SYCC, OPJ_CLRSPC_EYCC, OPJ_CLRSPC_CMYK].contains(image.pointee.color_space)
    guard 1...4 ~= components.count, !isOfYCC,
      components.allSatisfy({ $0.prec <= 8 && $0.sgnd == 0 && $0.dx == 1 && $0.dy == 1 })
    else { throw error("its samples are of another kind") }
    let samples = try interleaved(components, image, isPicture: true)
    let white = (1 << samples.bits) - 1
    let bands = PixelBands(isGray: components.count < 3, hasAlpha: components.count % 2 == 0)
    let pixels =
      white == 255 ? samples.bytes : samples.bytes.map { UInt8((Int($0) * 255 + white / 2) / white) }
    return Image(copying: pixels, width: width, height: height, bands: bands, subject: "file")
  }

  private static func size(of image: UnsafeMutablePointer<opj_image_t>) -> (width: Int, height: Int) {
    (Int(image.pointee.x1) - Int(image.pointee.x0), Int(image.pointee.y1) - Int(image.pointee.y0))
  }

  /// Decodes a codestream, or a JP2 file.
  ///
  /// - Parameters:
  ///   - flags: of OpenJPEG's parameters.
  ///   - isStrict: whether a file that is not whole is an error.
  ///   - check: throws if the header is not wanted, before memory is allocated.
  private static func decoded<Result>(
    _ bytes: UnsafeRawBufferPointer, flags: UInt32, isStrict: Bool,
    check: (UnsafeMutablePointer<opj_image_t>) throws(ImagingError) -> Void,
    use: (UnsafeMutablePointer<opj_image_t>) throws(ImagingError) -> Result
  ) throws(ImagingError) -> Result {
    let isCodestream = bytes.starts(with: [0xff, 0x4f, 0xff, 0x51])
    guard let codec = opj_create_decompress(isCodestream ? OPJ_CODEC_J2K : OPJ_CODEC_JP2) else {
      throw error("there is no memory for a decoder")
    }
    defer { opj_destroy_codec(codec) }
    var parameters = opj_dparameters_t()
    opj_set_default_decoder_parameters(&parameters)
    parameters.flags = flags
    guard opj_setup_decoder(codec, &parameters) == OPJ_TRUE else { throw error("its decoder cannot be used") }
    if !isStrict { opj_decoder_set_strict_mode(codec, OPJ_FALSE) }
    let source = Unmanaged.passRetained(Source(bytes))
    defer { source.release() }
    guard let stream = opj_stream_create(max(1, min(bytes.count, 1 << 16)), OPJ_TRUE) else {
      throw error("there is no memory for a decoder")
    }
    defer { opj_stream_destroy(stream) }
    connect(stream, source, count: bytes.count)
    var header: UnsafeMutablePointer<opj_image_t>?
    // Also after a failure there may be an image.
    defer { opj_image_destroy(header) }
    guard opj_read_header(stream, codec, &header) == OPJ_TRUE, let image = header else {
      throw error("it has no header")
    }
    try check(image)
    guard opj_decode(codec, stream, image) == OPJ_TRUE,
      opj_end_decompress(codec, stream) == OPJ_TRUE || !isStrict
    else { throw error("it is damaged or cut short") }
    return try use(image)
  }

  private static func interleaved(
    _ components: UnsafeBufferPointer<opj_image_comp_t>, _ image: UnsafeMutablePointer<opj_image_t>,
    isPicture: Bool
  ) throws(ImagingError) -> CodedSamples {
    let (width, height) = size(of: image)
    let (left, top) = (Int(image.pointee.x0), Int(image.pointee.y0))
    let bits = isPicture ? components.map { Int($0.prec) }.max() ?? 0 : Int(components[0].prec)
    guard 1...32 ~= bits else { throw error("its samples have \(bits) bits") }
    let size = bits > 16 ? 4 : bits > 8 ? 2 : 1
    var bytes = [UInt8](repeating: 0, count: width * height * components.count * size)
    for (band, component) in components.enumerated() {
      let (across, down) = (Int(component.dx), Int(component.dy))
      let (columns, rows) = (Int(component.w), Int(component.h))
      let own = Int(component.prec)
      guard let data = component.data, across > 0, down > 0, columns > 0, rows > 0,
        own == bits || isPicture && 1...bits ~= own
      else { throw error("its components are of several kinds") }
      let shift: Int32 = isPicture && component.sgnd != 0 ? 1 << Int32(own - 1) : 0
      let (greatest, white) = (1 << own - 1, 1 << bits - 1)
      bytes.withUnsafeMutableBytes { bytes in
        for y in 0..<height {
          // A component's samples lie at the multiples of its steps (B.2).
          let row = data + min(max((top + y) / down - Int(component.y0), 0), rows - 1) * columns
          for x in 0..<width {
            var value = row[min(max((left + x) / across - Int(component.x0), 0), columns - 1)] &+ shift
            if own < bits {
              value = Int32((min(max(Int(value), 0), greatest) * white + greatest / 2) / greatest)
            }
            let at = ((y * width + x) * components.count + band) * size
            switch size {
            case 1: bytes[at] = UInt8(truncatingIfNeeded: value)
            case 2: bytes.storeBytes(of: UInt16(truncatingIfNeeded: value), toByteOffset: at, as: UInt16.self)
            default: bytes.storeBytes(of: UInt32(bitPattern: value), toByteOffset: at, as: UInt32.self)
            }
          }
        }
      }
    }
    return CodedSamples(
      width: width, height: height, bands: components.count, bits: bits, isFloat: false, bytes: bytes)
  }

  /// Bytes in memory and the decoder's place in them.
  private final class Source {
    let bytes: UnsafeRawBufferPointer
    var place = 0
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    static func of(_ owner: UnsafeMutableRawPointer?) -> Source? {
      owner.map { Unmanaged<Source>.fromOpaque($0).takeUnretainedValue() }
    }
  }

  private static func connect(
    _ stream: UnsafeMutablePointer<opj_stream_t?>, _ source: Unmanaged<Source>, count: Int
  ) {
    opj_stream_set_user_data(stream, source.toOpaque(), nil)
    opj_stream_set_user_data_length(stream, UInt64(count))
    opj_stream_set_read_function(stream) { target, count, owner in
      guard let source = Source.of(owner), let target, source.place < source.bytes.count else {
        return -1
      }
      let part = source.bytes[source.place..<min(source.bytes.count, source.place + Int(clamping: count))]
      UnsafeMutableRawBufferPointer(start: target, count: part.count)
        .copyMemory(from: UnsafeRawBufferPointer(rebasing: part))
      source.place += part.count
      return OPJ_SIZE_T(part.count)
    }
    opj_stream_set_skip_function(stream) { count, owner in
      guard let source = Source.of(owner), count >= 0 else { return -1 }
      let skipped = min(Int(clamping: count), source.bytes.count - source.place)
      source.place += skipped
      return skipped == 0 && count > 0 ? -1 : OPJ_OFF_T(skipped)
    }
    opj_stream_set_seek_function(stream) { place, owner in
      guard let source = Source.of(owner), let place = Int(exactly: place), 0...source.bytes.count ~= place
      else {
        return OPJ_FALSE
      }
      source.place = place
      return OPJ_TRUE
    }
  }

  private static func error(_ reason: String) -> ImagingError {
    ImagingError("decode", "JPEG 2000", message: reason)
  }
}
