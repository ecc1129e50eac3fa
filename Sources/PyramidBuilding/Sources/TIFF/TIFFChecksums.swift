import Glibc
import ZigguratCTIFF

/// The checksums of a TIFF's deflated tiles and strips, which neither libtiff nor libvips reads (RFC 1950, section
/// 2.2): pixels may be wrong and decoded all the same.
final class TIFFChecksums {
  private let handle: TIFFHandle
  private let tags: TIFFTags
  private let page: Int
  private let stream = ZlibInflater()
  private let input: UnsafeMutablePointer<UInt8>
  private let output: UnsafeMutablePointer<UInt8>

  private static let partSize = 1 << 18

  /// `nil` if the page is not deflated.
  ///
  /// - Parameter page: counted from 0.
  init?(path: String, page: Int) {
    guard let tags = TIFFTags.read(path: path, page: page),
      [COMPRESSION_DEFLATE, COMPRESSION_ADOBE_DEFLATE].contains(tags.compression),
      let handle = try? TIFFHandle(path: path, page: page),
      // libtiff turns the bits of the other order round.
      Int32(handle.short(TIFFTAG_FILLORDER)) == FILLORDER_MSB2LSB
    else { return nil }
    self.handle = handle
    self.tags = tags
    self.page = page
    input = .allocate(capacity: Self.partSize)
    output = .allocate(capacity: Self.partSize)
  }

  deinit {
    input.deallocate()
    output.deallocate()
  }

  /// Reports the tiles or strips behind the file's end, and the first other one that is damaged.
  ///
  /// - Parameter readsAll: whether the others are read.
  func check(_ log: DamageLog, readsAll: Bool) {
    var isDamaged = !readsAll
    for unit in 0..<tags.chunkCount where !handle.isMissing(unit) {
      let name = tags.name(ofUnit: unit)
      if handle.isCutOff(unit) {
        log.add(lost: unit, ofPage: page, handle.loss(of: unit, named: name, ""))
      } else if !isDamaged, !isSound(unit) {
        isDamaged = true
        log.add(.error, TIFFInflater.reason(name))
      }
    }
  }

  private func isSound(_ unit: Int) -> Bool {
    stream.begin()
    let (stored, size) = (handle.storedSize(unit), handle.size(ofUnit: unit))
    var (place, done): (UInt64, UInt64) = (0, 0)
    while !stream.isFinished {
      if stream.needsInput {
        let count = handle.readPart(
          unit, from: place, to: input, count: Int(min(stored - place, UInt64(Self.partSize))))
        stream.give(UnsafeMutableBufferPointer(start: input, count: count))
        place += UInt64(count)
      }
      let (step, count) = stream.step(to: output, count: Self.partSize)
      done += UInt64(count)
      if step == .damaged || step == .mismatched { return false }
      // Some writers fill up the last strip; libtiff reads no further than it needs.
      if done > size { return isShortStrip(unit) }
      if step == .starved { return false }
    }
    return true
  }

  /// Whether a unit is a strip that has fewer rows than the others.
  private func isShortStrip(_ unit: Int) -> Bool {
    !tags.isTiled && unit % tags.rows == tags.rows - 1 && tags.height % tags.chunkHeight != 0
  }
}
