import Synchronization
import ZigguratCVips

/// The loaders of libvips that may be used in this process.
///
/// Loaders that libvips does not hold to be proof against hostile files are blocked from its start. One of them is
/// let in when a source of its kind is opened, and takes files of that kind alone; tiles never meet any.
package enum ImageLoaders {
  private struct State {
    var isCommonOnly = false
    var allowed: Set<UntrustedLoader> = []
  }

  private static let state = Mutex(State())

  /// The loaders of formats that cameras, phones and browsers write.
  private static let common: Set = ["JpegFile", "PngFile", "TiffFile", "WebpFile", "NsgifFile", "HeifFile"]

  /// Whether a class of libvips is that of a loader which is blocked from its start.
  static func isUncommon(_ className: String) -> Bool {
    let suffix = className.dropFirst("VipsForeignLoad".count)
    return className.hasPrefix("VipsForeignLoad")
      && UntrustedLoader.allCases.contains { suffix.hasPrefix($0.rawValue) }
  }

  /// For a process that builds what strangers send: of what is blocked, only JPEG XL and JPEG 2000 are let in from
  /// now on. The others run far more code, or take a file for a program.
  package static func forbidUncommon() {
    Vips.start()
    state.withLock { state in
      state.isCommonOnly = true
      for kind in state.allowed where !kind.isPicture { block(kind.rawValue, true) }
      state.allowed = state.allowed.filter(\.isPicture)
    }
  }

  /// To be called once, as libvips starts.
  static func blockUntrusted() {
    vips_block_untrusted_set(1)
    // Text that stands for numbers: no picture, and not on libvips' own list.
    for name in ["Matrix", "Csv", "Raw"] { block(name, true) }
  }

  /// The loader for a source, by the name of its class (`VipsForeignLoadJpegFile`); nil where there is none, or it
  /// may not be used.
  ///
  /// The result is remembered for the last file, unless it was written since: to find it libvips opens the file once
  /// for each of its loaders.
  static func find(forSourceAt path: String) -> String? {
    let file = Version(path, isCommonOnly: state.withLock { $0.isCommonOnly })
    if let known = last.withLock({ $0 }), known.file == file { return known.loader }
    guard let loader = look(forSourceAt: path) else { return nil }
    if let file { last.withLock { $0 = (file, loader) } }
    return loader
  }

  /// One version of a file, for a process that may use these loaders.
  private struct Version: Equatable {
    let file: FileVersion
    let isCommonOnly: Bool

    /// `nil` if there is none.
    init?(_ path: String, isCommonOnly: Bool) {
      guard let file = FileVersion(path) else { return nil }
      self.file = file
      self.isCommonOnly = isCommonOnly
    }
  }

  private static let last = Mutex<(file: Version, loader: String)?>(nil)

  private static func look(forSourceAt path: String) -> String? {
    let start = FileStart(ofFileAt: path)
    let possible = start.uncommonKinds
    let certain = start.certainLoader.flatMap { g_type_from_name($0) != 0 ? $0 : nil }
    if possible.isEmpty, let certain { return certain }
    let kinds = allow(possible)
    // A TIFF is a slide if OpenSlide takes it for one, and no other loader need be asked.
    if let certain, possible == [.openSlide] {
      let isSlide = !kinds.isEmpty && vips_foreign_is_a("openslideload", path) != 0
      return isSlide ? "VipsForeignLoadOpenslideFile" : certain
    }
    if let found = vips_foreign_find_load(path) {
      let name = String(cString: found)
      let suffix = name.dropFirst("VipsForeignLoad".count)
      // What was let in for other files is not for this one.
      let isIts = kinds.contains { suffix == $0.rawValue || suffix == "\($0.rawValue)File" }
      if isIts || common.contains(String(suffix)) { return name }
    }
    // libvips reads more files than it finds a loader for by their first bytes.
    var further: [UntrustedLoader] = [.pdf]
    if start.isLateSVG { further.append(.svg) }
    if start.isNetpbmOfMagick { further.append(.magick) }
    let name = further.first(where: kinds.contains).map { "VipsForeignLoad\($0.rawValue)File" }
    guard let name, g_type_from_name(name) != 0 else { return nil }
    vips_error_clear()
    return name
  }

  /// Lets in the loaders of these kinds, as far as this process may use them.
  /// - Returns: those that are let in.
  static func allow(_ kinds: Set<UntrustedLoader>) -> Set<UntrustedLoader> {
    guard !kinds.isEmpty else { return [] }
    return state.withLock { state in
      let allowed = state.isCommonOnly ? kinds.filter(\.isPicture) : kinds
      for kind in allowed.subtracting(state.allowed) { block(kind.rawValue, false) }
      state.allowed.formUnion(allowed)
      return allowed
    }
  }

  /// Names that this libvips does not know have nothing to block.
  private static func block(_ name: String, _ isBlocked: Bool) {
    vips_operation_block_set("VipsForeignLoad\(name)", isBlocked ? 1 : 0)
  }
}
