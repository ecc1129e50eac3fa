import ZigguratCSandbox

/// The unused memory that malloc keeps. Each thread has its own heap, and a heap stays at its largest size while
/// anything is allocated behind the freed memory.
enum Malloc {
  /// Limits unused memory, for a program that runs for months. There are few heaps, whose ends are returned when they
  /// are free, and large blocks are allocated outside them.
  ///
  /// By default glibc raises both limits with each large block that is freed (mallopt(3)), up to 64 MB. It keeps that
  /// much at the end of each heap, which `giveBack` does not release. Must be called before the first thread starts.
  static func limitArenas() {
    mallopt(M_ARENA_MAX, 4)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    mallopt(M_TRIM_THRESHOLD, 256 << 10)
  }

  /// Returns whole unused pages to the system (malloc_trim(3)); takes some milliseconds at most.
  static func giveBack() { malloc_trim(0) }
}
