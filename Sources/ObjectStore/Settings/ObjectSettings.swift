import Foundation
package import ZigguratFiles
import ZigguratHTTPMessages

/// The settings of a store, from the environment variables and files of the AWS tools.
package struct ObjectSettings: Hashable, Sendable {
  let endpoint: ObjectEndpoint
  let region: RegionName
  let style: BucketStyle?
  /// The credentials; nil for a public store, whose requests are not signed.
  let credentials: ObjectCredentials?
  let trust: TrustedCertificates

  /// Reads the environment and the files of this process.
  package init() throws(StorageError) {
    try self.init(ProcessInfo.processInfo.environment) { path in
      // These are small files of the user.
      FileManager.default.contents(atPath: path).map { String(decoding: $0.prefix(1 << 20), as: UTF8.self) }
    }
  }

  /// - Parameter file: returns the text of a file; nil if there is none.
  init(
    _ environment: [String: String], file: (_ path: String) -> String?
  ) throws(StorageError) {
    func variable(_ names: String...) -> String? {
      names.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
    }
    let home = variable("HOME") ?? ""
    func profiles(_ path: String) -> ProfileFile {
      ProfileFile(file(path.hasPrefix("~/") ? home + path.dropFirst() : path) ?? "")
    }
    let shared = profiles(variable("AWS_SHARED_CREDENTIALS_FILE") ?? "~/.aws/credentials")
    let settings = profiles(variable("AWS_CONFIG_FILE") ?? "~/.aws/config")
    let named = variable("AWS_PROFILE", "AWS_DEFAULT_PROFILE")
    let profile = named ?? "default"
    guard named == nil || shared.has(profile) || settings.has(profile) else {
      throw Self.error("AWS_PROFILE names '\(profile)', which no file of credentials or settings has")
    }

    let regionText =
      variable("AWS_REGION", "AWS_DEFAULT_REGION") ?? settings[profile, "region"] ?? "us-east-1"
    guard let region = RegionName(regionText) else {
      throw Self.error("'\(regionText)' is not the name of a region")
    }
    self.region = region

    let address =
      variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL") ?? settings[profile, "s3.endpoint_url"]
      ?? settings[profile, "endpoint_url"]
    if let address {
      guard let endpoint = ObjectEndpoint(address) else {
        throw Self.error("the endpoint '\(address)' is not http://HOST:PORT or https://HOST:PORT")
      }
      self.endpoint = endpoint
    } else {
      endpoint = .amazon(region)
    }

    let styleText = settings[profile, "s3.addressing_style"]
    if let styleText, styleText != "auto" {
      guard let style = BucketStyle(rawValue: styleText) else {
        throw Self.error("addressing_style is '\(styleText)', not auto, path or virtual")
      }
      self.style = style
    } else {
      // A custom endpoint may have no host names for its buckets.
      style = address == nil ? nil : .path
    }

    credentials = try Self.credentials(variable, [shared, settings], profile)
    trust = TrustedCertificates(
      file: variable("AWS_CA_BUNDLE") ?? settings[profile, "ca_bundle"]
        ?? variable("CURL_CA_BUNDLE", "SSL_CERT_FILE"),
      folder: variable("SSL_CERT_DIR"))
  }

  /// Returns the credentials. Keys in the environment take precedence over keys in files, as in the AWS tools.
  private static func credentials(
    _ variable: (String...) -> String?, _ files: [ProfileFile], _ profile: String
  ) throws(StorageError) -> ObjectCredentials? {
    func pair(_ value: (String) -> String?) throws(StorageError) -> ObjectCredentials? {
      guard let key = value("aws_access_key_id"), let secret = value("aws_secret_access_key") else {
        return nil
      }
      guard
        let found = ObjectCredentials(
          accessKey: key, secretKey: secret, sessionToken: value("aws_session_token"))
      else { throw error("the credentials have characters that none have") }
      return found
    }
    if let found = try pair({ variable($0.uppercased()) }) { return found }
    for file in files { if let found = try pair({ file[profile, $0] }) { return found } }
    return nil
  }

  private static func error(_ reason: String) -> StorageError {
    StorageError("reach the object store", reason)
  }

  /// Returns the URL of a key in a bucket, or of the bucket itself if the key is empty.
  func url(_ bucket: BucketName, _ key: String) -> String {
    // By bytes: as a character, a slash may combine with an accent after it.
    let key = key.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { PercentEncoding.encode(String(decoding: $0, as: UTF8.self)) }.joined(separator: "/")
    let style = style ?? (bucket.isHostName ? .virtual : .path)
    return switch style {
    case .virtual where !endpoint.isNumeric: "\(endpoint.scheme)://\(bucket.text).\(endpoint.host)/\(key)"
    case .path, .virtual:
      "\(endpoint.url)/\(bucket.text)" + (key.isEmpty ? "" : "/\(key)")
    }
  }
}
