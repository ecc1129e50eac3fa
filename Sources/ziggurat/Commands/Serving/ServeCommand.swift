import Foundation
import TileStorage
import ZigguratFiles
import ZigguratHTTPServer

enum ServeCommand: Command {
  static let name = "serve"
  static let usage = "DIR|ARCHIVE|s3://BUCKET/PREFIX"
  static let summary = "Serve a library over HTTP, to viewers and to programs."
  static let options = ServeOptions.all
  static let reportsAllErrors = true

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    do {
      try serve(arguments)
      return .success
    } catch let error as UsageError {
      throw error
    } catch let error as ReportedFailure {
      return error.exitCode
    } catch let error as StorageError {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    } catch {
      Output.error("\(error)")
      return .someFailed
    }
  }

  private static func serve(_ arguments: Arguments) throws {
    let environment = ProcessInfo.processInfo.environment
    let sockets = try InheritedSocket.all(environment)
    let configuration = try ServerConfiguration(
      arguments, sockets: sockets.map(\.place), environment: environment)
    let process = try ServerProcess(configuration, sockets: sockets)

    let build = ServerBuild(configuration.library)
    try build?.run(process.signals)
    let (library, bucket) = try LibraryOpener.open(
      configuration, process.space, openLimit: process.openArchives)

    let server = try RunningServer(configuration, process, library)

    let tasks = BackgroundTasks(configuration, process, server, library, bucket)
    tasks.start()
    StartupBanner(configuration: configuration, process: process, server: server, library: library).show()

    while process.signals.wait() == .renew {
      process.access.audit?.reopen()
      do { try server.listener.reopenLog() } catch { Output.error(error.description) }
      Output.note("SIGHUP: the library's folders are read again")
      library.reload()
    }
    process.signals.release()
    server.listener.shutdownGracefully(timeout: 10)
    tasks.stop(build)
    process.space?.wipeKeys()
  }
}
