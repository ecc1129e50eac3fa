import CVips

/// Which of libvips' loaders may be used in this process.
public enum ImageLoaders {
  /// Leaves those for what cameras, phones, scanners and browsers make: JPEG, PNG, TIFF, WebP, GIF, HEIF and AVIF,
  /// JPEG XL and JPEG 2000. The others run far more code, or take a file for a program.
  public static func forbidUncommon() {
    Vips.start()
    for name in [
      "Magick", "Svg", "Pdf", "Openslide", "Fits", "Analyze", "Openexr", "Nifti", "Mat", "Csv", "Matrix",
      "Raw",
      "Vips", "Ppm", "Rad",
    ] {
      // Names that this libvips does not know are blocked already.
      vips_operation_block_set("VipsForeignLoad\(name)", 1)
    }
  }
}
