import ZigguratCVips

/// A picture that a slide holds beside itself, by the name that OpenSlide or the file has for it. Labels show whose
/// tissue it is.
package enum AssociatedImage: String, CaseIterable, Codable, Sendable {
  case label, macro, thumbnail, overview, barcode
}

extension Image {
  /// The associated images of a slide that OpenSlide has opened; empty for any other picture.
  package var associated: [AssociatedImage] {
    let names = string("slide-associated-images")?.split(separator: ",").map { $0.drop { $0 == " " } } ?? []
    return AssociatedImage.allCases.filter { names.contains(Substring($0.rawValue)) }
  }

  /// Opens an associated image of a slide, in memory.
  package convenience init(_ associated: AssociatedImage, ofSlideAt path: String) throws(ImagingError) {
    Vips.start()
    let loader = "openslideload"
    guard Self.loader(ofPath: path) == loader else {
      throw ImagingError(opening: path, "is not a slide that OpenSlide reads")
    }
    // Not by the loader's option for one image: libvips 8.14 then reads a file that it has closed.
    let slide = try Operation.run(
      loader, path,
      ["filename": .string(path), "attach-associated": .bool(true), "fail-on": .name("truncated")])
    var image: UnsafeMutablePointer<VipsImage>?
    guard vips_image_get_image(slide.pointer, "openslide.associated.\(associated.rawValue)", &image) == 0,
      let image
    else { throw ImagingError.take(loader, path) }
    defer { g_object_unref(image) }
    guard let copy = vips_image_copy_memory(image) else { throw ImagingError.take(loader, path) }
    self.init(owning: copy, subject: path)
  }
}
