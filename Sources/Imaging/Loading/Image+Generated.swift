import ZigguratCVips

/// Supplies the pixels of an image that libvips cannot load, as they are asked for; from any thread.
package protocol PixelSupply: AnyObject, Sendable {
  /// Writes the pixels of an area, bands interleaved, to `base`, with `stride` bytes from row to row.
  ///
  /// - Throws: the defect of the file, as a clause.
  func fill(
    _ base: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int, width: Int, height: Int
  ) throws(ImagingError)
}

/// The header of an image whose pixels a `PixelSupply` has.
package struct GeneratedHeader: Sendable {
  package var width, height, bands: Int
  package var sampleType: SampleType
  package var isDouble = false
  /// The bits of integers whose type has more; negative if they have a sign.
  package var declaredBits: Int?
  /// libvips' short name of the colour space.
  package var interpretation: String
  /// The shape of the areas in which libvips asks for pixels.
  var style = VIPS_DEMAND_STYLE_THINSTRIP

  package init(width: Int, height: Int, bands: Int, sampleType: SampleType, interpretation: String) {
    self.width = width
    self.height = height
    self.bands = bands
    self.sampleType = sampleType
    self.interpretation = interpretation
  }

  package var bytesPerSample: Int { Int(vips_format_sizeof(format)) }

  fileprivate var format: VipsBandFormat {
    switch sampleType {
    case .byte: VIPS_FORMAT_UCHAR
    case .signed8: VIPS_FORMAT_CHAR
    case .unsigned16: VIPS_FORMAT_USHORT
    case .signed16: VIPS_FORMAT_SHORT
    case .unsigned32: VIPS_FORMAT_UINT
    case .signed32: VIPS_FORMAT_INT
    case .float, .other: isDouble ? VIPS_FORMAT_DOUBLE : VIPS_FORMAT_FLOAT
    }
  }
}

extension Image {
  private static let declaredBitsField = "ziggurat-declared-bits"

  /// The least and the greatest value that a sample may have; nil of floats, unless they stand for integers.
  package var sampleRange: ClosedRange<Double>? {
    guard let bits = int(Self.declaredBitsField) else { return sampleType.range }
    let whole = Double(sign: .plus, exponent: abs(bits), significand: 1)
    return bits < 0 ? -whole / 2...whole / 2 - 1 : 0...whole - 1
  }

  /// Whether integers have fewer bits than their type, or floats stand for some.
  package var hasDeclaredBits: Bool { hasField(Self.declaredBitsField) }

  /// Declares the number of bits of integer values, negative if they are signed; nil if the type says it. The image
  /// must not be shared.
  func declareBits(_ bits: Int?) {
    if let bits {
      vips_image_set_int(pointer, Self.declaredBitsField, Int32(bits))
    } else {
      vips_image_remove(pointer, Self.declaredBitsField)
    }
  }

  /// Pixels of the longest side that an image can have.
  package static let maxDimension = Int(VIPS_MAX_COORD)

  /// An image whose pixels `supply` gives on demand.
  ///
  /// - Parameter fields: an image whose header fields (resolution, orientation, profile) the new one has, too.
  package convenience init(
    _ header: GeneratedHeader, fields: Image?, subject: String, from supply: any PixelSupply
  ) throws(ImagingError) {
    Vips.start()
    guard 1...Self.maxDimension ~= header.width, 1...Self.maxDimension ~= header.height else {
      throw ImagingError(
        opening: subject,
        "is \(header.width) × \(header.height) pixels, and no side may have more than \(Self.maxDimension)")
    }
    guard let image = vips_image_new() else { throw ImagingError.take("open", subject) }
    self.init(owning: image, subject: subject)
    var inputs: [UnsafeMutablePointer<VipsImage>?] = fields.map { [$0.pointer, nil] } ?? [nil]
    if fields == nil {
      vips_image_init_fields(
        image, Int32(header.width), Int32(header.height), Int32(header.bands), header.format,
        VIPS_CODING_NONE, VIPS_INTERPRETATION_MULTIBAND, 1, 1)
    }
    guard vips_image_pipeline_array(image, header.style, &inputs) == 0 else {
      throw ImagingError.take("open", subject)
    }
    image.pointee.Xsize = Int32(header.width)
    image.pointee.Ysize = Int32(header.height)
    image.pointee.Bands = Int32(header.bands)
    image.pointee.BandFmt = header.format
    image.pointee.Coding = VIPS_CODING_NONE
    let number = vips_enum_from_nick("ziggurat", vips_interpretation_get_type(), header.interpretation)
    image.pointee.Type = VipsInterpretation(number)
    if let bits = header.declaredBits { declareBits(bits) }
    // The image may outlive the caller; it lets the supply go with itself.
    let owner = Unmanaged.passRetained(Supply(supply)).toOpaque()
    let object = UnsafeMutableRawPointer(image).assumingMemoryBound(to: GObject.self)
    g_object_set_data_full(object, "ziggurat-supply", owner) { owner in
      if let owner { Unmanaged<Supply>.fromOpaque(owner).release() }
    }
    let code = vips_image_generate(
      image, nil,
      { region, _, owner, _, _ in
        guard let region, let owner else { return -1 }
        let supply = Unmanaged<Supply>.fromOpaque(owner).takeUnretainedValue().supply
        let area = region.pointee.valid
        do throws(ImagingError) {
          try supply.fill(
            region.pointee.data, stride: Int(region.pointee.bpl), x: Int(area.left), y: Int(area.top),
            width: Int(area.width), height: Int(area.height))
          return 0
        } catch {
          error.message.withCString { text in withVaList([text]) { vips_verror(nil, "%s\n", $0) } }
          return -1
        }
      }, nil, owner, nil)
    guard code == 0 else { throw ImagingError.take("open", subject) }
  }

  /// Sets a header field. The image must not be shared.
  package func setInt(_ name: String, _ number: Int) {
    vips_image_set_int(pointer, name, Int32(clamping: number))
  }

  /// Sets the resolution. The image must not be shared.
  package func setPixelsPerMillimetre(x: Double, y: Double) {
    pointer.pointee.Xres = x
    pointer.pointee.Yres = y
  }

  private final class Supply {
    let supply: any PixelSupply
    init(_ supply: any PixelSupply) { self.supply = supply }
  }
}
