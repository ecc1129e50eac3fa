/// The resistance of an object that is pulled past its end. The object follows ever less, and never as far as its room.
///
/// The formula is that of `UIScrollView`, as observed, since Apple does not document it:
/// f(x) = (1 − 1 / (x·c / d + 1))·d with c = 0.55, where x is the pull and d the room.
public enum RubberBand {
  /// The constant c: the part of a short pull that is followed.
  public static var coefficient: Double { 0.55 }

  /// The largest part of the room that `pull(forDisplacement:room:)` inverts; at the whole room the pull is infinite.
  private static var maxPartSize: Double { 0.999 }

  /// Returns the displacement of an object that is pulled past its end. Inverse of `pull(forDisplacement:room:)`.
  ///
  /// - Parameters:
  ///   - pull: the distance pulled past the end, in any unit; its sign is kept. A value that is not a number counts
  ///     as 0.
  ///   - room: the displacement that is never reached, in the same unit. Unless it is finite and above 0, the result
  ///     is 0.
  public static func displacement(forPull pull: Double, room: Double) -> Double {
    guard room > 0, room.isFinite, !pull.isNaN else { return 0 }
    let displacement = (1 - 1 / (pull.magnitude * coefficient / room + 1)) * room
    return pull < 0 ? -displacement : displacement
  }

  /// Returns the pull that leads to a displacement. Inverse of `displacement(forPull:room:)`.
  ///
  /// - Parameters:
  ///   - displacement: the distance past the end, in any unit; its sign is kept. More than 0.999 of the room counts
  ///     as that. A value that is not a number counts as 0.
  ///   - room: the displacement that is never reached, in the same unit. Unless it is finite and above 0, the result
  ///     is 0.
  public static func pull(forDisplacement displacement: Double, room: Double) -> Double {
    guard room > 0, room.isFinite, !displacement.isNaN else { return 0 }
    let part = min(displacement.magnitude / room, maxPartSize)
    let pull = (1 / (1 - part) - 1) * room / coefficient
    return displacement < 0 ? -pull : pull
  }
}

extension Viewport {
  /// The octaves (doublings of the scale) by which a scale never exceeds its limits while it is pulled.
  private static var octaves: Double { 1 }

  /// Returns the viewport to show while fingers ask for this one. Within its limits it is unchanged; past them it
  /// follows with the resistance of a rubber band. Inverse of `withoutRubberBand(on:limits:insets:about:)`.
  ///
  /// The scale follows in octaves, with a room of one. Then the offset follows on each axis, with the room of the
  /// viewport's side, from the offsets that are permitted at that scale.
  ///
  /// - Parameters:
  ///   - image: the size of the image at full resolution.
  ///   - limits: the permitted scales.
  ///   - insets: CSS pixels from the viewport's edges at which the image may end.
  ///   - anchor: the point of viewport space between the fingers. Its image point stays while the scale is changed;
  ///     `nil` is the viewport's centre.
  ///   - isZooming: whether an axis that permits a single offset is centred at once, so that nothing jumps at the end
  ///     of a zoom.
  public func rubberBanded(
    on image: PixelSize, limits: ScaleLimits, insets: Insets = .zero, about anchor: Point? = nil,
    isZooming: Bool = false
  ) -> Viewport {
    scaledPast(limits, about: anchor, RubberBand.displacement(forPull:room:))
      .movedPast(permittedOn: image, insets, centering: isZooming, RubberBand.displacement(forPull:room:))
  }

  /// Returns the viewport that fingers would have to ask for, for this one to be shown. A gesture that catches a
  /// picture past its limits starts from it. Inverse of `rubberBanded(on:limits:insets:about:isZooming:)`.
  ///
  /// - Parameters:
  ///   - image: the size of the image at full resolution.
  ///   - limits: the permitted scales.
  ///   - insets: CSS pixels from the viewport's edges at which the image may end.
  ///   - anchor: the point of viewport space between the fingers; `nil` is the viewport's centre.
  public func withoutRubberBand(
    on image: PixelSize, limits: ScaleLimits, insets: Insets = .zero, about anchor: Point? = nil
  ) -> Viewport {
    movedPast(permittedOn: image, insets, centering: false, RubberBand.pull(forDisplacement:room:))
      .scaledPast(limits, about: anchor, RubberBand.pull(forDisplacement:room:))
  }

  private func scaledPast(
    _ limits: ScaleLimits, about anchor: Point?, _ bend: (Double, Double) -> Double
  ) -> Viewport {
    let inside = limits.limit(scale)
    guard inside != scale else { return self }
    let octaves = bend(BinaryLogarithm.log2(scale / inside), Self.octaves)
    // Larger numbers of octaves would be clamped to `scales` in any case.
    return scaled(to: inside * BinaryLogarithm.exp2(min(max(octaves, -1000), 1000)), about: anchor)
  }

  private func movedPast(
    permittedOn image: PixelSize, _ insets: Insets, centering: Bool, _ bend: (Double, Double) -> Double
  ) -> Viewport {
    func axis(_ offset: Double, _ range: ClosedRange<Double>, _ room: Double) -> Double {
      let (first, last) = (range.lowerBound, range.upperBound)
      if centering, first == last { return first }
      if offset < first { return first + bend(offset - first, room) }
      return offset > last ? last + bend(offset - last, room) : offset
    }
    let permitted = permittedOffsets(on: image, insets: insets)
    var result = self
    result.x = axis(x, permitted.x, width)
    result.y = axis(y, permitted.y, height)
    return result
  }
}
