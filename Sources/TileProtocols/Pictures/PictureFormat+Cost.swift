extension PictureFormat {
  /// What encoding a pixel takes.
  ///
  /// | format | clean | noisy | weight |
  /// |---|---|---|---|
  /// | jpg, Q 80 | 0.07 | 0.08 | 1 |
  /// | webp, Q 80, effort 0 | 0.19 | 0.40 | 4 |
  /// | avif, Q 80, effort 0 | 0.52 | 1.3 | 8 |
  /// | jxl, Q 80, effort 3 | 0.55 | 0.63 | 8 |
  /// | png | 0.55 | 1.6 | 10 |
  /// | tif, deflate | 0.72 | 2.9 | 18 |
  /// | gif | 1.9 | 3.5 | 26 |
  ///
  /// Seconds of processor time of libvips 8.14's savers, of jxl libjxl's 0.7 (`VIPS_CONCURRENCY=1`, `/usr/bin/time`)
  /// for 14 megapixels of photographs, and of the same with noise (sigma 6) added; decoding their JPEG takes 0.1.
  package var weight: Int { facts.weight }

  /// Bytes that encoding takes for each pixel. The encoders of AV1 and JPEG XL have the most copies of a picture.
  package var bytesPerPixel: Int { facts.bytesPerPixel }

  /// How many pixels of the format may be asked for where `pixels` are allowed: all of them in the formats that
  /// every IIIF server has to have and in those that cost no more, less in others.
  package func limit(_ pixels: Int) -> Int {
    let dearest = max(Self.jpg.weight, Self.png.weight)
    return weight <= dearest ? pixels : pixels / weight * dearest
  }
}
