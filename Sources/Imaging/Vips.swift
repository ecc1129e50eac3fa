import Glibc
import ZigguratCVips

/// The library's start, done once before anything else touches it.
package enum Vips {
  static let isStarted: Bool = {
    // Before the start, which would otherwise install a printing handler.
    setenv("VIPS_WARNING", "1", 1)
    guard vips_init("ziggurat") == 0 else { return false }
    VipsLog.capture()
    ImageLoaders.blockUntrusted()
    // Our tiles are the parallelism; libvips' own threads would only contend with them.
    vips_concurrency_set(1)
    // Every image is seen once: a cache of operations would only keep files open.
    vips_cache_set_max(0)
    return true
  }()

  /// The version of the library that runs, which need not be the one that was compiled against.
  package static var version: String {
    [0, 1, 2].map { "\(vips_version(Int32($0)))" }.joined(separator: ".")
  }

  /// To be called before there are other threads: the start changes the process's environment, which
  /// another thread may be reading, as libjpeg does with every decoder. Later calls do nothing.
  package static func start() {
    precondition(isStarted, "libvips cannot be started")
  }
}
