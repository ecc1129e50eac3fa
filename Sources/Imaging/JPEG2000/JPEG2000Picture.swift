import Glibc
import ZigguratFiles

extension Image {
  /// The samples of a JPEG 2000 file as OpenJPEG decodes them, for files that libvips reads wrongly. Fewer than 8 bits
  /// become 8. Nothing is decoded before the first pixel is asked for.
  ///
  /// - Throws: an error with advice if the colours or the samples are of a kind that is not read.
  package convenience init(_ header: JPEG2000Header, path: String) throws(ImagingError) {
    if let refusal = header.refusal(path: path) { throw refusal }
    guard let size = header.size else { throw header.refused("no size", path: path) }
    let depths = header.palette ?? size.bits
    guard 1...5 ~= depths.count else { throw header.refused("\(depths.count) components", path: path) }
    guard let bits = depths.max(), 1...16 ~= bits else {
      throw header.refused(
        "components of \(depths.map(String.init).joined(separator: ", ")) bits", path: path)
    }
    let (width, height, bands, isLong) = (size.width, size.height, depths.count, bits > 8)
    let isYCC = header.colourSpace == JPEG2000Header.sYCC && bands > 2
    var generated = GeneratedHeader(
      width: width, height: height, bands: bands, sampleType: isLong ? .unsigned16 : .byte,
      interpretation: bands < 3 ? (isLong ? "grey16" : "b-w") : isLong ? "rgb16" : "srgb")
    if isLong, bits < 16 { generated.declaredBits = bits }
    let pixels = DecodedOnce(width: width, bands: bands * (isLong ? 2 : 1)) { () throws(ImagingError) in
      var samples: CodedSamples
      do throws(ImagingError) {
        samples = try JPEG2000.picture(path: path, width: width, height: height, bands: bands)
      } catch {
        throw ImagingError(
          "jp2kload", path, message: "the JPEG 2000 file cannot be decoded (\(error.message))")
      }
      if isYCC { samples.convertFromYCC() }
      return try samples.pixels(path: path)
    }
    try self.init(generated, fields: nil, subject: path, from: pixels)
    setString("vips-loader", "jp2kload")
    setDecoderMemory(width * height * bands * 8)
  }
}

extension JPEG2000 {
  fileprivate static func picture(
    path: String, width: Int, height: Int, bands: Int
  ) throws(ImagingError) -> CodedSamples {
    guard let bytes = ReadableFile(path: path)?.contents() else {
      throw ImagingError(opening: path, String(cString: strerror(errno)))
    }
    return try bytes.withUnsafeBufferPointer { (bytes) throws(ImagingError) in
      try samples(
        UnsafeRawBufferPointer(bytes), maxWidth: width, maxHeight: height, bands: bands, isPicture: true)
    }
  }
}

extension CodedSamples {
  /// Converts Y'CbCr of IEC 61966-2-1's amendment 1 (sYCC) to R'G'B'; a fourth band stays as it is.
  fileprivate mutating func convertFromYCC() {
    let (greatest, half) = (Double(1 << bits - 1), Double(1 << (bits - 1)))
    func clipped(_ value: Double) -> Int { Int(min(max(value.rounded(), 0), greatest)) }
    for pixel in stride(from: 0, to: width * height * bands, by: bands) {
      let (luma, blue, red) = (
        Double(self[pixel]), Double(self[pixel + 1]) - half, Double(self[pixel + 2]) - half
      )
      self[pixel] = clipped(luma + 1.402 * red)
      self[pixel + 1] = clipped(luma - 0.344136 * blue - 0.714136 * red)
      self[pixel + 2] = clipped(luma + 1.772 * blue)
    }
  }

  private subscript(_ sample: Int) -> Int {
    get {
      bytesPerSample == 1
        ? Int(bytes[sample])
        : bytes.withUnsafeBytes { Int($0.load(fromByteOffset: 2 * sample, as: UInt16.self)) }
    }
    set {
      if bytesPerSample == 1 {
        bytes[sample] = UInt8(newValue)
      } else {
        bytes.withUnsafeMutableBytes {
          $0.storeBytes(of: UInt16(newValue), toByteOffset: 2 * sample, as: UInt16.self)
        }
      }
    }
  }

  /// Returns the samples in memory of their own; those of less than 8 bits are spread over 8.
  fileprivate func pixels(path: String) throws(ImagingError) -> DecodedOnce.Pixels {
    guard let base = malloc(max(1, bytes.count))?.assumingMemoryBound(to: UInt8.self) else {
      throw ImagingError(opening: path, "is JPEG 2000 that needs more memory than there is")
    }
    let pixels = DecodedOnce.Pixels(base)
    let greatest = 1 << bits - 1
    if bits < 8 {
      for at in bytes.indices {
        let value = min(Int(bytes[at]), greatest) * 255
        base[at] = UInt8((value + greatest / 2) / greatest)
      }
    } else {
      bytes.withUnsafeBytes {
        UnsafeMutableRawPointer(base).copyMemory(from: $0.baseAddress!, byteCount: bytes.count)
      }
    }
    return pixels
  }
}
