import TileStorage

/// The table of the options of `serve`, in the order in which the short help lists them.
enum ServeOptions {
  static let all: [Option] = [
    [ConfigFile.option], networkOptions, pagesOptions, spacesOptions, logsOptions, renderingOptions,
    limitsOptions, removedOptions, libraryOptions, siteOptions, listenerOptions, logFileOptions, cacheOptions,
    networkSecurityOptions, originalsOptions, auditOptions, changesOptions,
  ].flatMap { $0 }

  private static let networkOptions = [
    Option(
      "host", "ADDRESS,…", default: "127.0.0.1", isList: true, isCommon: true,
      help: "Addresses to listen on; 0.0.0.0,:: for all"),
    Option("port", "N", default: "8080", isCommon: true, help: "Port to listen on; 0 picks a free one"),
    Option(
      "base-url", "URL", isCommon: true,
      help: "Public URL of the server behind a proxy; auto takes it from the headers of trusted proxies"),
    Option(
      "threads", "N", default: "all cores",
      help: "Number of event loops, and of threads that render images; twice as many render if some are slow"),
  ].grouped(.network)

  private static let pagesOptions = [
    Option(
      "webroot", "DIR", default: "installed with the program", was: "public",
      help: "Folder of the viewer's pages and scripts")
  ].grouped(.pages)

  private static let spacesOptions = [
    Option("space", help: "Serve the private space that a password opens, on this machine only"),
    PasswordPrompt.optionOfSpace,
    Option(
      "private-spaces", "MODE", default: "auto", was: "spaces",
      help: "Offer visitors to unlock private spaces: yes, no, or auto: once the library has one"),
    Option("session-idle", .seconds, default: "30m", help: "Time after which an unused session ends"),
    Option(
      "session-max-age", .seconds, default: "12h", was: "session-longest",
      help: "Time after which any session ends"),
  ].grouped(.spaces)

  private static let logsOptions = [
    Option(
      "log", "FORMAT", default: "none", isCommon: true,
      help: "Access log on stderr, a line per response: text, json or none"),
    Option(
      "server-timing",
      help: "Send the header Server-Timing: how long an answer waited, was rendered and was fetched"),
  ].grouped(.logs)

  private static let renderingOptions = [
    Option(
      "render-queue", "N", default: "64",
      help: "Maximum number of waiting renders; the client with most gets 503 beyond it"),
    Option(
      "render-timeout", .seconds, default: "30s",
      help: "Time after which an unfinished render is answered 503"),
    Option(
      "cache-size", .megabytes, default: "128MB", was: "cache-memory",
      help: "Memory for rendered images and decoded tiles"),
    Option(
      "max-pixels", .pixels, default: "50MP",
      help: "Maximum size of a rendered image; 0.55 of it for tif, 0.38 for gif"),
  ].grouped(.rendering)

  private static let limitsOptions = [
    Option(
      "max-header-size", .kilobytes, default: "8KB", was: "max-header",
      help: "Maximum size of a request's headers (else 431); the URL may have half of it (else 414)"),
    Option("max-connections", "N", default: "4096", help: "Maximum number of connections"),
    Option(
      "max-connections-per-address", "N", default: "1024",
      help:
        "Maximum number of connections of one address or IPv6 /64; behind a trusted proxy, of requests at a time"
    ),
    Option(
      "request-timeout", .seconds, default: "20s", help: "Time in which a client must send its request"),
    Option(
      "response-timeout", .seconds, default: "5m", was: "answer-timeout",
      help: "Time in which a client must read its response"),
    Option("idle-timeout", .seconds, default: "15s", help: "Time after which an idle connection is closed"),
  ].grouped(.limits)

  private static let removedOptions = [
    Option(
      removed: "render-threads", "N", withReason: "--threads also sets the number of threads that render"),
    Option(removed: "max-viewport-side", "N", was: "max-viewport", withReason: "the limit is 32768"),
    Option(
      removed: "max-url-length", "SIZE", was: "max-url", withReason: "the limit is half of --max-header-size"),
    Option(
      removed: "max-open-archives", "N", was: "open-archives",
      withReason: "the limit is 512, or less if the limit of file descriptors is low"),
    Option(removed: "max-uploads", "N", was: "upload-count", withReason: "the limit is 1000"),
    Option(
      removed: "upload-ttl", "TIME", was: "upload-expiry",
      withReason: "unfinished uploads are kept for 24 hours"
    ),
    Option(
      removed: "upload-history", "TIME", was: "upload-memory",
      withReason: "the status of finished uploads is kept for 7 days"),
  ]

  private static let libraryOptions = [
    Option(
      "object-cache-size", .megabytes, default: "256MB", was: "store-memory",
      help: "Memory for tiles that were read from an object store"),
    Option(
      "catalog", "URL",
      help: "Shared catalog, postgresql://USER@HOST/DATABASE, made by 'ziggurat catalog migrate'"),
    Option(
      "advertise-url", "URL", requires: "catalog", was: "own-url",
      help: "URL of this server for other servers, which redirect changes to the one that writes"),
    Option(
      "build", isCommon: true,
      help: "Build archives of the images in DIR first, then of those that are added or changed"),
    Option(
      "library", "DIR", default: "below ~/.cache", requires: "build", isCommon: true,
      help: "Folder for the archives of --build"),
  ].grouped(.library)

  private static let siteOptions = [
    Option(
      "site-name", "NAME", isCommon: true, help: "Title of the pages and of the library's IIIF collection"),
    Option(
      "provider", "PROVIDER", help: "IIIF provider: 'NAME <URL>', or a file with an Agent in JSON"),
  ].grouped(.pages)

  private static let listenerOptions = [
    Option(
      "listen", "unix:PATH", isList: true,
      help: "Unix sockets to listen on, instead of --host and --port unless these are given"),
    Option(
      "metrics-listen", "ADDRESS:PORT", isCommon: true,
      help: "Address of a separate listener for /metrics, which is then answered there only"),
  ].grouped(.network)

  private static let logFileOptions = [
    Option(
      "log-file", "FILE", default: "stderr", isCommon: true,
      help: "File for the lines of --log; SIGHUP reopens it")
  ].grouped(.logs)

  private static let cacheOptions = [
    Option(
      "shared-cache", was: "edge",
      help: "Let a shared cache in front keep responses for two seconds, and purge them by surrogate keys"),
    Option(
      "purge-url", "URL,…", isList: true, was: "edge-purge",
      help: "Caches to send PURGE requests to when images are gone; implies --shared-cache"),
    Option(
      "purge-key-file", "FILE", default: "DIR/.ziggurat-edge-key", was: "edge-key-file",
      help: "Secret of servers and caches, 64 hexadecimal digits"),
    Option(
      "tile-max-age", .seconds, default: "0",
      help: "Cache lifetime of tiles whose URL names no generation"),
  ].grouped(.caches)

  private static let networkSecurityOptions = [
    Option(
      "trusted-proxy", "CIDR,…", default: "none; with --base-url: local", isList: true, isCommon: true,
      help: "Proxies whose Forwarded headers are used; unix or none"),
    Option(
      "allow-host", "NAME,…", isList: true,
      help: "Additional Host names to accept on private addresses: *.example.org, or * for all"),
    Option(
      "allow-origin", "ORIGIN,…", default: "*", isList: true,
      help: "Sites whose pages may read, and with the token write: https://example.org, or none"),
    Option(
      "frame-ancestors", "SITE,…", default: "*", isList: true,
      help: "Sites whose pages may frame an image: https://example.org, self or none"),
  ].grouped(.network)

  private static let originalsOptions = [
    Option(
      "public-originals", was: "offer-originals",
      help: "Let everybody download the files that --keep-originals has kept, with all their metadata")
  ].grouped(.changes)

  private static let auditOptions = [
    Option(
      "audit-log", "FILE", was: "audit",
      help: "Write a JSON line to FILE for each login, change and upload; SIGHUP reopens it")
  ].grouped(.logs)

  private static let changesOptions = [
    Option(
      "writable", isCommon: true,
      help: "Accept changes and uploads from clients with the token, which is printed at the start"),
    Option(
      "token-file", "FILE", requires: "writable", isCommon: true,
      help: "File whose first line is the token, 16 to 256 characters"),
    Option(
      "keep-deleted", .hours, default: "24h", requires: "writable",
      help: "Time in which deleted images can be restored"),
    Option(
      "upload-dir", "DIR", requires: "writable", was: "upload-folder",
      help: "Folder of this server for unfinished uploads to a library in an object store"),
    Option(
      "max-upload-size", .megabytes, default: "4GB", requires: "writable", was: "upload-size",
      help: "Maximum size of an uploaded file"),
    Option(
      "max-upload-megapixels", .megapixels, default: "2000MP", requires: "writable", was: "upload-pixels",
      help: "Maximum number of pixels of an uploaded image, all its pages together"),
    Option(
      "upload-types", "TYPE,…", default: "all", isList: true, requires: "writable",
      was: Option.FormerName(flag: "no-uploads", value: "none"),
      Option.FormerName("uploads", values: ["yes": "all", "no": "none"]),
      help: "Accepted types, detected by content: \(uploadTypes), or none"),
    Option(
      "keep-originals", requires: "writable", was: "keep-sources",
      help: "Keep uploaded files beside their archives; clients that may write can download them"),
  ].grouped(.changes)

  /// The types of files that `--upload-types` can name, with commas between.
  static var uploadTypes: String { ImageFormat.uploads.map(\.rawValue).joined(separator: ",") }
}
