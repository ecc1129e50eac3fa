import Glibc
import Synchronization
import ZigguratCVips

/// The messages of GLib and libvips, which would be printed on stderr. They are kept per thread, as the reason of an
/// error that has no other, and never printed.
enum VipsLog {
  private struct Entry {
    /// The first ones: a damaged file may give any number.
    var texts: [String]
    /// A property was set out of its range: libvips goes on with another value than the file's.
    var isBadProperty: Bool
  }

  /// The key for all threads of libvips' own.
  private static let ofPool: UInt = 0
  private static let entries = Mutex<[UInt: Entry]>([:])

  /// To be called once, when libvips has started: asked to be silent, as it is before, it has a handler of its own.
  static func capture() {
    let handler: GLogFunc = { domain, _, message, _ in
      guard let message else { return }
      let isBadProperty = domain.map { String(cString: $0) } == "GLib-GObject"
      let text = String(cString: message)
      // A thread of libvips' own works for whoever waits for it, which is one picture in a sandboxed process.
      let thread = vips_thread_isvips() != 0 ? VipsLog.ofPool : UInt(pthread_self())
      VipsLog.entries.withLock { entries in
        let earlier = entries[thread]
        let texts = earlier?.texts ?? []
        entries[thread] = Entry(
          texts: texts.count < 20 ? texts + [text] : Array(texts.dropLast()) + [text],
          isBadProperty: isBadProperty || earlier?.isBadProperty ?? false)
      }
    }
    g_log_set_default_handler(handler, nil)
    g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, handler, nil)
  }

  /// The last warning of this thread, which is then forgotten.
  static func take() -> String? { takeAll().last }

  /// The first warnings of this thread and the last one, which are then forgotten.
  static func takeAll() -> [String] {
    entries.withLock { entries in
      [UInt(pthread_self()), ofPool].flatMap { entries.removeValue(forKey: $0)?.texts ?? [] }
    }
  }

  /// The warning of this thread that says a value of the file was not taken as it is, if there was one; all others stay.
  static func takeBadProperty() -> String? {
    entries.withLock { entries in
      guard entries[UInt(pthread_self())]?.isBadProperty == true else { return nil }
      return entries.removeValue(forKey: UInt(pthread_self()))?.texts.last
    }
  }
}
