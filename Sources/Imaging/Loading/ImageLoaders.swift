import Synchronization
import ZigguratCVips

/// The loaders of libvips that may be used in this process.
///
/// Loaders that libvips marks as untrusted are blocked from its start. One of them is enabled when a source of its
/// format is opened, and then reads files of that format alone. Tiles never use such a loader.
package enum ImageLoaders {
  private struct State {
    var isCommonOnly = false
    var allowed: Set<UntrustedLoader> = []
  }

  private static let state = Mutex(State())

  /// The loaders of formats that cameras, phones and browsers write.
  private static let common: Set = ["JpegFile", "PngFile", "TiffFile", "WebpFile", "NsgifFile", "HeifFile"]

  /// Whether a class of libvips is a loader that is blocked from the start.
  static func isUncommon(_ className: String) -> Bool {
    let suffix = className.dropFirst("VipsForeignLoad".count)
    return className.hasPrefix("VipsForeignLoad")
      && UntrustedLoader.allCases.contains { suffix.hasPrefix($0.rawValue) }
  }

  /// Restricts a process that builds untrusted files: of the blocked loaders, only JPEG XL and JPEG 2000 can be enabled
  /// from now on. The others run far more code, or may interpret a file as a script.
  package static func forbidUncommon() {
    Vips.start()
    state.withLock { state in
      state.isCommonOnly = true
      for kind in state.allowed where !kind.isPicture { block(kind.rawValue, true) }
      state.allowed = state.allowed.filter(\.isPicture)
    }
  }

  /// Blocks the untrusted loaders. Called once, when libvips starts.
  static func blockUntrusted() {
    vips_block_untrusted_set(1)
    // Text that represents numbers: no pictures, and not marked as untrusted by libvips.
    for name in ["Matrix", "Csv", "Raw"] { block(name, true) }
  }

  /// Returns the class name of a source's loader (`VipsForeignLoadJpegFile`). Returns nil if there is no loader, or it
  /// may not be used.
  ///
  /// The result for the last file is cached until the file changes: to find it, libvips opens the file once for each of
  /// its loaders.
  static func find(forSourceAt path: String) -> String? {
    let file = Version(path, isCommonOnly: state.withLock { $0.isCommonOnly })
    if let known = last.withLock({ $0 }), known.file == file { return known.loader }
    guard let loader = look(forSourceAt: path) else { return nil }
    if let file { last.withLock { $0 = (file, loader) } }
    return loader
  }

  /// A version of a file, with the loaders that the process may use.
  private struct Version: Equatable {
    let file: FileVersion
    let isCommonOnly: Bool

    /// Returns `nil` if the file does not exist.
    init?(_ path: String, isCommonOnly: Bool) {
      guard let file = FileVersion(path) else { return nil }
      self.file = file
      self.isCommonOnly = isCommonOnly
    }
  }

  private static let last = Mutex<(file: Version, loader: String)?>(nil)

  private static func look(forSourceAt path: String) -> String? {
    let start = FileSignature(ofFileAt: path)
    let possible = start.uncommonKinds
    let certain = start.certainLoader.flatMap { g_type_from_name($0) != 0 ? $0 : nil }
    if possible.isEmpty, let certain { return certain }
    let kinds = allow(possible)
    // If OpenSlide accepts a TIFF, it is a slide, and no other loader is tried.
    if let certain, possible == [.openSlide] {
      let isSlide = !kinds.isEmpty && vips_foreign_is_a("openslideload", path) != 0
      return isSlide ? "VipsForeignLoadOpenslideFile" : certain
    }
    if let found = vips_foreign_find_load(path) {
      let name = String(cString: found)
      let suffix = name.dropFirst("VipsForeignLoad".count)
      // Loaders that were enabled for other files do not apply to this one.
      let isIts = kinds.contains { suffix == $0.rawValue || suffix == "\($0.rawValue)File" }
      if isIts || common.contains(String(suffix)) { return name }
    }
    // libvips reads more files than its loaders recognize by their first bytes.
    var further: [UntrustedLoader] = [.pdf]
    if start.isLateSVG { further.append(.svg) }
    if start.isNetpbmOfMagick { further.append(.magick) }
    let name = further.first(where: kinds.contains).map { "VipsForeignLoad\($0.rawValue)File" }
    guard let name, g_type_from_name(name) != 0 else { return nil }
    vips_error_clear()
    return name
  }

  /// Enables the loaders of these kinds, as far as this process may use them.
  ///
  /// - Returns: the enabled kinds.
  static func allow(_ kinds: Set<UntrustedLoader>) -> Set<UntrustedLoader> {
    guard !kinds.isEmpty else { return [] }
    return state.withLock { state in
      let allowed = state.isCommonOnly ? kinds.filter(\.isPicture) : kinds
      for kind in allowed.subtracting(state.allowed) { block(kind.rawValue, false) }
      state.allowed.formUnion(allowed)
      return allowed
    }
  }

  /// Ignores names that this libvips does not know.
  private static func block(_ name: String, _ isBlocked: Bool) {
    vips_operation_block_set("VipsForeignLoad\(name)", isBlocked ? 1 : 0)
  }
}
