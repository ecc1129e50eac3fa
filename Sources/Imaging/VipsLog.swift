import Glibc
import Synchronization
import ZigguratCVips

/// The messages of GLib and libvips, which would otherwise be printed on stderr. They are kept per thread and never
/// printed. An error without another reason gets them as its reason.
enum VipsLog {
  private struct Entry {
    /// The first messages only: a damaged file may cause any number.
    var texts: [String]
    /// Whether a property was set out of its range. libvips then continues with another value than the file's.
    var isBadProperty: Bool
  }

  /// The key for all threads of libvips itself.
  private static let ofPool: UInt = 0
  private static let entries = Mutex<[UInt: Entry]>([:])

  /// Installs the handler. Called once after libvips has started; its own handler would replace an earlier one.
  static func capture() {
    let handler: GLogFunc = { domain, _, message, _ in
      guard let message else { return }
      let isBadProperty = domain.map { String(cString: $0) } == "GLib-GObject"
      let text = String(cString: message)
      // libvips' own threads work for any waiting thread; a sandboxed process has only one picture.
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

  /// Returns the last warning of this thread and clears all.
  static func take() -> String? { takeAll().last }

  /// Returns the first warnings of this thread and the last one, and clears all.
  static func takeAll() -> [String] {
    entries.withLock { entries in
      [UInt(pthread_self()), ofPool].flatMap { entries.removeValue(forKey: $0)?.texts ?? [] }
    }
  }

  /// Returns the warning of this thread about a value that was not taken as it is, if there is one. Keeps all other
  /// warnings.
  static func takeBadProperty() -> String? {
    entries.withLock { entries in
      guard entries[UInt(pthread_self())]?.isBadProperty == true else { return nil }
      return entries.removeValue(forKey: UInt(pthread_self()))?.texts.last
    }
  }
}
