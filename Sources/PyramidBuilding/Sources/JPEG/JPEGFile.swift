import TileStorage
import ZigguratCJPEGStream
import ZigguratImaging

/// An open JPEG file after its header was read.
final class JPEGFile {
  let subject: String
  let info: js_info
  let reader: OpaquePointer

  init(path: String) throws(BuildError) {
    subject = path
    var info = js_info()
    var reader: OpaquePointer?
    try Self.check(path) { error in
      reader = js_open(path, &info, error)
      return reader == nil ? -1 : 0
    }
    self.reader = reader!
    self.info = info
  }

  deinit { js_close(reader) }

  var width: Int { Int(info.width) }
  var height: Int { Int(info.height) }
  var isGray: Bool { info.colour == 1 && info.components == 1 }

  /// Rows come as gray or RGB, as libvips would give them.
  var hasRows: Bool { isGray || (info.components == 3 && (info.colour == 2 || info.colour == 3)) }

  /// Y at full, Cb and Cr at half resolution both ways.
  var is420: Bool {
    info.colour == 2 && info.components == 3 && info.h.0 == 2 && info.v.0 == 2 && info.h.1 == 1
      && info.v.1 == 1 && info.h.2 == 1 && info.v.2 == 1
  }

  /// Planes can be kept: gray, or 4:2:0.
  var hasPlanes: Bool { is420 || (isGray && info.h.0 == 1 && info.v.0 == 1) }

  /// Coefficients stream only from sequential Huffman scans; in several scans they are far apart.
  var hasStreamingCoefficients: Bool {
    hasPlanes && info.has_several_scans == 0 && info.is_arithmetic == 0
      && tables.allSatisfy { table in table.allSatisfy { (1...255).contains($0) } }
  }

  /// Whether the source is quantised no finer than `quality` would: its own bits then cost no more.
  func isNoFiner(thanQuality quality: Int) -> Bool { Self.areNoFiner(tables, thanQuality: quality) }

  /// - Parameter tables: of luminance and, where there is colour, of chrominance, in any order of coefficients.
  static func areNoFiner(_ tables: [[Int]], thanQuality quality: Int) -> Bool {
    for (number, table) in tables.enumerated() {
      var wanted = [UInt16](repeating: 0, count: 64)
      js_quality_table(Int32(quality), Int32(number), &wanted)
      if table.reduce(0, +) < wanted.reduce(0, { $0 + Int($1) }) { return false }
    }
    return true
  }

  /// Quantisation of each component.
  private var tables: [[Int]] {
    withUnsafeBytes(of: info.quantisation) { bytes in
      let values = bytes.bindMemory(to: UInt16.self).map { Int($0) }
      return (0..<(isGray ? 1 : 3)).map { Array(values[64 * $0..<64 * ($0 + 1)]) }
    }
  }

  /// Returns the damage of the file after all rows were read.
  ///
  /// - Throws: an error if no row can be decoded.
  func finish() throws(BuildError) -> SourceDamage? {
    js_finish(reader)
    let noticed = js_noticed(reader)
    if let flaw = Self.flaw(noticed) { return SourceDamage(.error, "the JPEG file is damaged (\(flaw))") }
    if noticed.is_cut_off != 0 {
      let lost = height - Int(noticed.first_lost_row)
      guard noticed.first_lost_row >= 0 else {
        return SourceDamage(
          .truncated,
          noticed.lacks_scans != 0
            ? "the JPEG file is cut off before scans that complete or refine its pixels"
            : "the JPEG file is cut off behind its last row")
      }
      if info.has_several_scans != 0 {
        return SourceDamage(
          .truncated, "the JPEG file is cut off before its last scan, which makes its pixels finer")
      }
      guard noticed.first_lost_row > 0 else {
        throw BuildError(subject, "the JPEG file is cut off before its first row")
      }
      return SourceDamage(.truncated, "the JPEG file is cut off: \(lost) of \(height) rows are missing")
    }
    guard noticed.severity != JS_SOUND else { return nil }
    return SourceDamage(
      .warning, "the JPEG file has flaws beside its pixels (\(String(characters: noticed.text)))")
  }

  /// Returns libjpeg's report of lost or wrong pixels; nil if there is none.
  static func flaw(_ noticed: js_damage) -> String? {
    noticed.severity == JS_ERROR ? String(characters: noticed.text) : nil
  }

  /// Makes a call that fills an error text, and throws that.
  /// - Parameter isPart: whether it reads a part of a file, whose name the caller puts in front.
  static func check(
    _ subject: String, isPart: Bool = false, _ call: (UnsafeMutablePointer<CChar>) -> Int32
  ) throws(BuildError) {
    var text = [CChar](repeating: 0, count: Int(JS_ERROR_SIZE))
    let code = text.withUnsafeMutableBufferPointer { call($0.baseAddress!) }
    if code != 0 {
      let message = String(buffer: text)
      throw BuildError(
        subject, isPart ? message : DecoderMessage.explained(message, format: "JPEG", path: subject))
    }
  }
}
