import CVips
import Glibc
import Synchronization

/// What GLib and libvips would print on stderr: kept per thread, as the reason of a failure that has no
/// other, and never printed.
enum VipsLog {
  private struct Entry {
    var text: String
    /// A property was set out of its range: libvips goes on with another value than the file's.
    var isBadProperty: Bool
  }

  private static let entries = Mutex<[UInt: Entry]>([:])

  static func capture() {
    g_log_set_default_handler(
      { domain, _, message, _ in
        guard let message else { return }
        let isBadProperty = domain.map { String(cString: $0) } == "GLib-GObject"
        let text = String(cString: message)
        VipsLog.entries.withLock { entries in
          let earlier = entries[UInt(pthread_self())]
          entries[UInt(pthread_self())] = Entry(
            text: text, isBadProperty: isBadProperty || earlier?.isBadProperty ?? false)
        }
      }, nil)
  }

  /// The last warning of this thread, which is then forgotten.
  static func take() -> String? { entries.withLock { $0.removeValue(forKey: UInt(pthread_self())) }?.text }

  /// The warning of this thread that says a value of the file was not taken as it is, if there was one.
  static func takeBadProperty() -> String? {
    let entry = entries.withLock { $0.removeValue(forKey: UInt(pthread_self())) }
    return entry.flatMap { $0.isBadProperty ? $0.text : nil }
  }
}
