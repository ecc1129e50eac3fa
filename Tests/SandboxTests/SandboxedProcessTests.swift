import Foundation
import Testing
import ZigguratSandbox
import ZigguratTestSupport

/// Operations that a sandboxed process can and cannot do, as `ziggurat-sandbox-probe` reports them.
@Suite struct SandboxedProcessTests {
  /// The result of each attempt: outside and inside the sandbox, or inside alone.
  static let found: [String: String] = {
    guard ProcessLauncher.kernelLack == nil, let output = try? Tool.check([probe]) else { return [:] }
    let pairs = output.split(separator: "\n").compactMap { line -> (String, String)? in
      let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
      return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }()

  static let probe = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appendingPathComponent("ziggurat-sandbox-probe").path

  static let isConfined = ProcessLauncher.kernelLack == nil

  @Test(
    .enabled(if: isConfined, "this kernel lacks Landlock or seccomp: nothing to try"),
    arguments: [
      "open /etc/passwd", "list /", "write outside", "remove", "socket", "unix socket", "fork", "ptrace",
      "execve",
      "kill its parent", "signal a thread of its parent", "memory that is code", "shared memory",
      "memfd_create", "io_uring_setup",
      "raise its limits",
    ])
  func `operations that decoding never needs are denied`(_ attempt: String) throws {
    let found = try #require(Self.found[attempt])
    #expect(found.hasPrefix("done, "), "it works outside the sandbox")
    #expect(
      found.hasSuffix("error 13") || found.hasSuffix("error 1") || found.hasSuffix("ended by signal 31"),
      "\(found)")
  }

  @Test(
    .enabled(if: isConfined, "this kernel lacks Landlock or seccomp: nothing to try"),
    arguments: [
      ("crash", "the decoder ended by signal 11"), ("hog", "it needed more than 64 MB of memory"),
      ("spin", "it took longer than 1 s"), ("exit", "the decoder ended with code 3"), ("files", "error 4"),
      ("a byte at a time", "it took longer than 1 s"), ("deaf", "it took longer than 1 s"),
      ("hidden", "the decoder's answer makes no sense"),
      ("late", "the decoder ended with code 3"), ("emptying a given file", "error 13, 4 bytes"),
      ("given file", "read"), ("other file", "error 13"), ("in a given folder", "read"),
      ("after a hundred", "the decoder ended with code 3"),
      ("unknown kind", "no process could be had for it: Invalid argument"),
    ])
  func `the end of a process is reported with its reason`(_ what: String, _ end: String) {
    #expect(Self.found[what] == end)
  }

  @Test func `only a lack of system resources is temporary`() {
    #expect(TerminationReason.unavailable(11).isTemporary)
    #expect(!TerminationReason.signal(6).isTemporary)
  }
}
