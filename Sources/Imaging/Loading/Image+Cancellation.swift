import ZigguratCVips

extension Image {
  /// Makes all computations from this image fail soon after `isUnwanted` returns true. Must be called before anything
  /// is made from the image. libvips checks between the parts that it computes; a codec that decodes whole pictures
  /// checks where its library allows it.
  package func end(when isUnwanted: @escaping @Sendable () -> Bool) {
    final class Question: Sendable {
      let ask: @Sendable () -> Bool
      init(_ ask: @escaping @Sendable () -> Bool) { self.ask = ask }
    }
    typealias Evaluated =
      @convention(c) (
        UnsafeMutablePointer<VipsImage>?, UnsafeMutablePointer<VipsProgress>?, UnsafeMutableRawPointer?
      ) -> Void
    let evaluated: Evaluated = { image, progress, question in
      guard let question,
        Unmanaged<Question>.fromOpaque(question)._withUnsafeGuaranteedRef({ $0.ask() })
      else { return }
      vips_image_set_kill(image, 1)
      // The image that is being computed, which a codec looks at.
      if let target = progress?.pointee.im { vips_image_set_kill(target, 1) }
    }
    vips_image_set_progress(pointer, 1)
    g_signal_connect_data(
      pointer, "eval", unsafeBitCast(evaluated, to: GCallback.self),
      Unmanaged.passRetained(Question(isUnwanted)).toOpaque(),
      { data, _ in if let data { Unmanaged<Question>.fromOpaque(data).release() } },
      GConnectFlags(rawValue: 0))
  }
}
