import Glibc
import ZigguratPrivateSpaces

/// Opens a library's private spaces for the commands.
enum SpaceDoor {
  /// A failure that was told already, in one line.
  struct Told: Error {
    let exitCode: ExitCode
  }

  /// Asks for the password and opens the space that it fits.
  static func open(_ library: String, _ arguments: Arguments) throws(Told) -> PrivateSpace {
    let spaces = PrivateSpaces(library: library)
    return try telling { () throws(PasswordFailure) in
      let password = try PasswordPrompt(file: arguments.string("password-file")).password("Password")
      do throws(SpaceError) { return try spaces.open(password) } catch { throw .space(error) }
    }
  }

  /// Runs `body` and tells how it failed.
  static func telling<Result>(_ body: () throws(PasswordFailure) -> Result) throws(Told) -> Result {
    do { return try body() } catch {
      switch error {
      case .space(let error):
        Output.error(error.description)
        throw Told(exitCode: error.isTemporary ? .temporary : .someFailed)
      case .unreadable(let what):
        Output.error(what)
        throw Told(exitCode: .someFailed)
      case .interrupted: throw Told(exitCode: .interrupted)
      }
    }
  }

  /// Keeps image libraries from putting pixels into temporary files, as they do with large pictures. Before
  /// their first use.
  static func forbidTemporaryFiles() {
    setenv("VIPS_DISC_THRESHOLD", "1000000g", 1)
    setenv("MAGICK_DISK_LIMIT", "0", 1)
  }
}
