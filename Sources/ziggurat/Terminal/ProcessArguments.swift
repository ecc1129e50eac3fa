import Foundation
import Glibc
import ZigguratCatalog

/// The arguments of the process, which `ps` and `/proc/PID/cmdline` show to every user of the machine.
enum ProcessArguments {
  /// Overwrites passwords of URLs there. Must be called after the arguments were read, and before other processes
  /// start.
  ///
  /// A user who looks earlier still sees them. An option's environment variable, `PGPASSFILE` and `PGPASSWORD` are
  /// never shown to others.
  static func hidePasswords() {
    guard let place = region() else { return }
    let memory = UnsafeMutableRawBufferPointer(
      start: UnsafeMutableRawPointer(bitPattern: UInt(place.lowerBound)), count: place.count)
    for argument in memory.split(separator: 0) {
      let bytes = Array(argument)
      for range in AddressSecrets.ranges(in: bytes[...], isWhole: true) {
        for index in range { memory[argument.startIndex + index] = UInt8(ascii: "*") }
      }
    }
  }

  /// Returns the addresses of the arguments: fields 48 and 49 of `/proc/self/stat` (proc(5)); nil if the kernel omits
  /// them.
  private static func region() -> Range<Int>? {
    guard let stat = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
      // The second field, a name in parentheses, may contain spaces.
      let name = stat.lastIndex(of: ")")
    else { return nil }
    let fields = stat[stat.index(after: name)...].split(separator: " ")
    guard fields.count > 46, let start = Int(fields[45]), let end = Int(fields[46]), 0 < start, start < end
    else { return nil }
    return start..<end
  }
}
