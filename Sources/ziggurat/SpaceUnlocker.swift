import Glibc
import ZigguratPrivateSpaces

/// An opener of a library's private spaces for the commands.
enum SpaceUnlocker {
  /// Asks for the password and opens the matching space.
  ///
  /// - Parameter passwordFile: the path of the password's file, `-` for stdin; nil for the terminal.
  static func open(_ library: String, passwordFile: String?) throws(ReportedFailure) -> PrivateSpace {
    let spaces = PrivateSpaces(library: library)
    return try reporting { () throws(PasswordFailure) in
      let password = try PasswordPrompt(file: passwordFile).password("Password")
      do throws(SpaceError) { return try spaces.open(password) } catch { throw .space(error) }
    }
  }

  /// Runs `body` and reports its failure.
  static func reporting<Result>(
    _ body: () throws(PasswordFailure) -> Result
  ) throws(ReportedFailure) -> Result {
    do { return try body() } catch {
      switch error {
      case .space(let error):
        Output.error(error.description)
        throw ReportedFailure(exitCode: error.isTemporary ? .temporary : .someFailed)
      case .unreadable(let what):
        Output.error(what)
        throw ReportedFailure(exitCode: .someFailed)
      case .interrupted: throw ReportedFailure(exitCode: .interrupted)
      }
    }
  }

  /// Prevents image libraries from writing the pixels of large images into temporary files. Must be called before their
  /// first use.
  static func forbidTemporaryFiles() {
    setenv("VIPS_DISC_THRESHOLD", "1000000g", 1)
    setenv("MAGICK_DISK_LIMIT", "0", 1)
  }
}
