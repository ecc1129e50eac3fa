import Glibc

/// The process metrics of Prometheus client libraries, for the server without its sandboxed processes.
struct ProcessFigures {
  let name: String
  let help: String
  let value: String
  /// Whether the value never decreases.
  let isTotal: Bool

  /// The current values from the kernel. Unavailable ones are left out.
  static var now: [ProcessFigures] {
    var figures: [ProcessFigures] = []
    func add(_ name: String, _ help: String, _ value: some CustomStringConvertible, isTotal: Bool = false) {
      figures.append(ProcessFigures(name: name, help: help, value: "\(value)", isTotal: isTotal))
    }
    var used = timespec()
    if clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 {
      add("cpu_seconds_total", "User and system CPU time in seconds.", seconds(used), isTotal: true)
    }
    // The fields of proc_pid_statm(5), in pages.
    let pages = read("/proc/self/statm").split(separator: " ").compactMap { Int($0) }
    if pages.count > 1 {
      let page = sysconf(Int32(_SC_PAGESIZE))
      add("virtual_memory_bytes", "Virtual memory size in bytes.", pages[0] * page)
      add("resident_memory_bytes", "Resident memory size in bytes.", pages[1] * page)
    }
    if let count = openDescriptors { add("open_fds", "Open file descriptors.", count) }
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur < Int.max {
      add("max_fds", "Maximum number of open file descriptors.", limit.rlim_cur)
    }
    if let start { add("start_time_seconds", "Start time in seconds since 1970.", start) }
    return figures
  }

  private static func seconds(_ time: timespec) -> Double {
    Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }

  /// The start time. It is computed from the kernel's boot clock, since /proc/stat may be hidden from the service.
  /// It is computed once, because a corrected system clock must not look like a restart.
  private static let start: Double? = {
    // Field 22 of proc_pid_stat(5), the 20th after the name in parentheses, in clock ticks.
    let fields = read("/proc/self/stat").split(separator: ")").last?.split(separator: " ") ?? []
    var (now, sinceBoot) = (timespec(), timespec())
    guard fields.count > 19, let ticks = Double(fields[19]), clock_gettime(CLOCK_REALTIME, &now) == 0,
      clock_gettime(CLOCK_BOOTTIME, &sinceBoot) == 0
    else { return nil }
    return seconds(now) - seconds(sinceBoot) + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }()

  private static var openDescriptors: Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while readdir(folder) != nil { count += 1 }
    // Without this descriptor, `.` and `..`.
    return count - 3
  }

  private static func read(_ path: String) -> String {
    guard let file = fopen(path, "re") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count], as: UTF8.self)
  }
}
