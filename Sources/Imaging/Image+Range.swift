import ZigguratCVips

extension Image {
  /// Returns the minimum and maximum finite value of the first `bands` bands; 0 and 0 if none is finite.
  ///
  /// - Parameter open: returns the image; every pixel is read once or twice.
  package static func range(
    ofFirst bands: Int, _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> (least: Double, greatest: Double) {
    let image = try open()
    if let samples = image.floatingPoint {
      var range: (least: Double, greatest: Double)?
      try image.forEachRow { row in
        if let found = samples.finiteRange(row, count: image.width, bands: image.bands, first: bands) {
          range = range.map { (min($0.least, found.least), max($0.greatest, found.greatest)) } ?? found
        }
        return true
      }
      return range ?? (0, 0)
    }
    func extreme(_ operation: String, _ image: Image) throws(ImagingError) -> Double {
      try Operation.runToNumber(
        operation, image.subject, ["in": .image(image.bands(from: 0, count: bands))])
    }
    return (try extreme("min", image), try extreme("max", open()))
  }

  /// Returns the minimum and maximum of the first `bands` bands of integer samples. Returns nil as soon as a value is
  /// in the upper half of its range; for signed values, the magnitude counts.
  package func rangeWithoutTopBit(ofFirst bands: Int) throws(ImagingError) -> (
    least: Double, greatest: Double
  )? {
    guard let limits = sampleRange else { return nil }
    let floats = floatingPoint
    var range: (least: Double, greatest: Double)?
    let isWhole = try forEachRow { row in
      let found =
        if let floats {
          // The floats represent integers; NaN represents a missing value.
          floats.finiteRange(row, count: width, bands: self.bands, first: bands)
        } else {
          sampleType.range(row, count: width, bands: self.bands, first: bands)
        }
      guard let found else { return floats != nil }
      guard found.greatest <= (limits.upperBound / 2).rounded(.towardZero),
        found.least >= (limits.lowerBound / 2).rounded(.towardZero)
      else { return false }
      range = range.map { (min($0.least, found.least), max($0.greatest, found.greatest)) } ?? found
      return true
    }
    return isWhole ? range : nil
  }

  /// Returns percentiles of the finite samples of the first `bands` bands, interpolated linearly as by NumPy's
  /// `percentile`. Returns nil if no sample is finite.
  ///
  /// The result is exact, without sorting. Samples become 32-bit numbers of the same order. Their upper halves are
  /// counted first, then the lower halves of the relevant ones.
  ///
  /// - Parameters:
  ///   - shares: percent, 0…100.
  ///   - open: returns the image; every pixel is read once or twice.
  package static func percentiles(
    _ shares: [Double], ofFirst bands: Int, _ open: () throws(ImagingError) -> Image
  ) throws(ImagingError) -> [Double]? {
    let image = try open()
    let samples = image.orderedSamples
    var upper = [Int](repeating: 0, count: 1 << 16)
    try image.forEachRow { row in
      samples.each(row, count: image.width, bands: image.bands, first: bands) { upper[Int($0 >> 16)] += 1 }
      return true
    }
    let count = upper.reduce(0, +)
    guard count > 0 else { return nil }
    let places = shares.map { min(max($0, 0), 100) / 100 * Double(count - 1) }
    let ranks = Set(places.flatMap { [Int($0), min(Int($0) + 1, count - 1)] })
    // For each upper half that contains a rank, its position in one table of lower-half counts.
    var slots = [Int](repeating: -1, count: 1 << 16)
    var slotCount = 0
    var found: [(rank: Int, half: Int, within: Int)] = []
    for rank in ranks {
      var (half, left) = (0, rank)
      while left >= upper[half] { (half, left) = (half + 1, left - upper[half]) }
      found.append((rank, half, left))
      if slots[half] < 0 { (slots[half], slotCount) = (slotCount, slotCount + 1) }
    }
    var lower = [Int](repeating: 0, count: slotCount << 16)
    let again = try open()
    try again.forEachRow { row in
      samples.each(row, count: again.width, bands: again.bands, first: bands) { number in
        let slot = slots[Int(number >> 16)]
        if slot >= 0 { lower[slot << 16 | Int(number & 0xffff)] += 1 }
      }
      return true
    }
    var values: [Int: Double] = [:]
    for (rank, half, within) in found {
      var (number, left) = (0, within)
      // The file may have been overwritten between the passes, with other samples.
      while number < 0xffff, left >= lower[slots[half] << 16 | number] {
        left -= lower[slots[half] << 16 | number]
        number += 1
      }
      values[rank] = samples.value(UInt32(half << 16 | number))
    }
    return places.map { place in
      let (low, high) = (values[Int(place)]!, values[min(Int(place) + 1, count - 1)]!)
      return low + (high - low) * (place - place.rounded(.down))
    }
  }

  /// Returns the mean values of a grid of areas over the image, with the bands of each area together. A pixel on
  /// several areas counts in each by its overlap.
  ///
  /// - Parameters:
  ///   - columns: at most the width.
  ///   - rows: at most the height.
  package func means(columns: Int, rows: Int) throws(ImagingError) -> [Double] {
    precondition(1...width ~= columns && 1...height ~= rows, "cells of a pixel or more")
    let numbers = try cast(to: "float")
    let (shares, lines) = (Self.shares(columns, of: width), Self.shares(rows, of: height))
    var sums = [Double](repeating: 0, count: columns * rows * bands)
    var line = [Double](repeating: 0, count: columns * bands)
    var y = 0
    try numbers.forEachRow { row in
      let samples = UnsafeRawPointer(row)
      for place in line.indices { line[place] = 0 }
      for x in 0..<width {
        let share = shares[x]
        for band in 0..<bands {
          let value = Double(samples.loadUnaligned(fromByteOffset: (x * bands + band) * 4, as: Float.self))
          guard value.isFinite else { continue }
          line[share.area * bands + band] += value * share.first
          if share.second > 0 { line[(share.area + 1) * bands + band] += value * share.second }
        }
      }
      for (offset, part) in [(0, lines[y].first), (1, lines[y].second)] where part > 0 {
        let start = (lines[y].area + offset) * line.count
        for place in line.indices { sums[start + place] += line[place] * part }
      }
      y += 1
      return true
    }
    return sums
  }

  /// Returns, for each of `count` pixels, the first area that it overlaps, and its overlaps with that area and the next
  /// one.
  private static func shares(_ areas: Int, of count: Int) -> [(area: Int, first: Double, second: Double)] {
    (0..<count).map { pixel in
      let (start, end) = (pixel * areas, (pixel + 1) * areas)
      let area = start / count
      let first = min(end, (area + 1) * count) - start
      return (area, Double(first) / Double(count), Double(end - start - first) / Double(count))
    }
  }

  /// Calls `body` for every row, until it returns false.
  ///
  /// - Returns: whether it was called for all rows.
  @discardableResult
  func forEachRow(
    to operation: String = "read", _ body: (UnsafeMutablePointer<UInt8>) -> Bool
  ) throws(ImagingError) -> Bool {
    let region = vips_region_new(pointer)
    defer { g_object_unref(region) }
    for y in stride(from: 0, to: height, by: 64) {
      var area = VipsRect(left: 0, top: Int32(y), width: Int32(width), height: Int32(min(64, height - y)))
      guard vips_region_prepare(region, &area) == 0 else { throw ImagingError.take(operation, subject) }
      // VIPS_REGION_ADDR is a macro; these are its fields.
      let origin = region!.pointee.valid
      for row in 0..<Int(area.height) {
        let start =
          region!.pointee.data + (y + row - Int(origin.top)) * Int(region!.pointee.bpl)
          - Int(origin.left) * rowSize / width
        guard body(start) else { return false }
      }
    }
    return true
  }

  /// Returns the image with 0 where an original, from which it was made, has NaN: black, and transparent in alpha. The
  /// result of converting NaN to an integer is undefined.
  package func black(whereNaNIn original: Image) throws(ImagingError) -> Image {
    guard original.floatingPoint != nil else { return self }
    // 255 for all samples that equal themselves, and 0 for NaN.
    var mask = try Operation.run(
      "relational", subject,
      ["left": .image(original), "right": .image(original), "relational": .name("equal")])
    if !isBytes { mask = try mask.linear([257], [0]).cast(to: "ushort") }
    return try Operation.run(
      "boolean", subject, ["left": .image(self), "right": .image(mask), "boolean": .name("and")])
  }

  /// Returns the image with NaN in place of one sample value. Bytes become 0 instead, because their range is known.
  /// Other integers become floats.
  package func withoutNumbers(where value: Double) throws(ImagingError) -> Image {
    let mask = try Operation.run(
      "relational_const", subject,
      [
        "in": .image(self), "relational": .name("equal"),
        "c": .doubles([floatingPoint == .single ? Double(Float(value)) : value]),
      ])
    var numbers = self
    let bits = [.signed8: -8, .unsigned16: 16, .signed16: -16, .unsigned32: 32, .signed32: -32][sampleType]
    if let bits { numbers = try cast(to: abs(bits) > 16 ? "double" : "float") }
    let undefined = try numbers.linear([0], [isBytes ? 0 : .nan], makesBytes: isBytes)
    let result = try Operation.run(
      "ifthenelse", subject, ["cond": .image(mask), "in1": .image(undefined), "in2": .image(numbers)]
    ).said(toBe: interpretation)
    if let bits { result.declareBits(bits) }
    return result
  }

  /// Returns gray or RGB as 16-bit samples, with `low` mapped to 0 and `high` to 65535, clipped. A band after the first
  /// `colours` bands is alpha and keeps its share of the maximum.
  ///
  /// - Parameter alpha: the factor for alpha; `nil` for that of the samples' type.
  package func spread(
    from low: Double, to high: Double, colours: Int, alpha: Double? = nil
  ) throws(ImagingError) -> Image {
    let factor = 65535 / (high - low)
    let range = sampleRange ?? 0...255
    let alpha = alpha ?? 65535 / (range.upperBound - range.lowerBound)
    let factors = (0..<bands).map { $0 < colours ? factor : alpha }
    // `cast` truncates; adding a half rounds.
    let offsets = (0..<bands).map { ($0 < colours ? -low * factor : -range.lowerBound * alpha) + 0.5 }
    let spread = try exactForLinear().linear(factors, offsets).cast(to: "ushort")
      .said(toBe: colours < 3 ? "grey16" : "rgb16")
    spread.declareBits(nil)
    return spread
  }

  /// Returns linear light with the first `colours` bands mapped so that `low` becomes 0 and `high` 1.
  package func light(from low: Double, to high: Double, colours: Int) throws(ImagingError) -> Image {
    let factor = 1 / (high - low)
    return try linear(
      (0..<bands).map { $0 < colours ? factor : 1 }, (0..<bands).map { $0 < colours ? -low * factor : 0 }
    ).said(toBe: interpretation)
  }

  /// Returns every value × `factor` + `offset` as unsigned bytes, clipped; alpha, if there is any, × `alpha`.
  package func scaledToBytes(factor: Double, offset: Double, alpha: Double) throws(ImagingError) -> Image {
    let colours = bands - (hasAlpha ? 1 : 0)
    // `linear` truncates when it makes bytes; adding a half rounds.
    let scaled = try linear(
      hasAlpha ? (0..<bands).map { $0 < colours ? factor : alpha } : [factor],
      hasAlpha ? (0..<bands).map { ($0 < colours ? offset : 0) + 0.5 } : [offset + 0.5], makesBytes: true)
    scaled.declareBits(nil)
    return scaled
  }
}
