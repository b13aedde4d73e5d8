import Formats
import Foundation
import Domain
import Providers
import Yams

enum SecretSource: Sendable {
  case written(Secret)
  case environment(String)
  /// A file that only its owner can read, with one secret per line.
  case file(String)
  /// A credential that systemd passes to the job.
  case credential(String)

  var isWritten: Bool {
    if case .written = self { true } else { false }
  }
}

extension SettingForm<[Provider: [SecretSource]]> {
  /// `{iaptic: text}`, with `{env: NAME}`, `{file: PATH}` or `{credential: NAME}` instead of the
  /// text, or a list of them.
  ///
  /// No message contains a value, nor a name below a provider's: with a wrong form, the secret
  /// itself is in that place.
  static var secrets: Self {
    let source: JSONValue = .any(
      .object(["type": .string("string")]), .mapping(["env": .text]), .mapping(["file": .text]),
      .mapping(["credential": .text]))
    return Self(schema: .byProvider(.list(of: source))) { value in
      guard value.node.mapping != nil else {
        throw value.refused("the value is not a mapping of providers")
      }
      var secrets: [Provider: [SecretSource]] = [:]
      try value.forEach { entry in
        guard let provider = Provider(name: entry.key) else {
          let known = Provider.allCases.map(\.name).joined(separator: ", ")
          throw value.refused("a key is not one of \(known)")
        }
        secrets[provider] = try entry.items().map { try $0.secret() }
      }
      return secrets
    }
  }
}

extension SettingValue {
  func secret() throws(SubledgerError) -> SecretSource {
    // YAML may change a number without quotes.
    let isNumber = node.scalar.map { $0.style == .plain && $0.string.allSatisfy(\.isNumber) }
    if let text = node.scalar?.string, isNumber == false, !isNull,
      let secret = Secret(Array(text.utf8))
    {
      return .written(secret)
    }
    if node.mapping != nil, let field = try entries().first, try entries().count == 1,
      let text = field.node.scalar?.string, !text.isEmpty
    {
      if field.key == "file" { return .file(text) }
      if field.key == "env" { return .environment(text) }
      if field.key == "credential", !text.contains("/") { return .credential(text) }
    }
    throw refused(
      "the value is not {env: NAME}, {file: PATH}, {credential: NAME}, a text in quotes, or a list "
        + "of such")
  }
}

extension Plan {
  /// Returns the secrets with which deliveries are authenticated, read from the sources in the
  /// configuration.
  ///
  /// - Throws: `SubledgerError` of kind `configuration` or `permission` with the provider; never
  ///   with a value, nor a text in place of a name.
  func secrets(of provider: Provider) throws(SubledgerError) -> [Secret] {
    let sources = configuration.secrets[provider] ?? []
    let key = "secrets.\(provider.name)"
    var found: [Secret] = []
    for (index, source) in sources.enumerated() {
      let entry = sources.count == 1 ? "`\(key)`" : "entry \(index + 1) of `\(key)`"
      found += try self.secrets(in: source, of: entry)
    }
    return found
  }

  /// Returns the secrets from one source, which `entry` names in the configuration.
  func secrets(in source: SecretSource, of entry: String) throws(SubledgerError) -> [Secret] {
    switch source {
    case .written(let secret): return [secret]
    case .environment(let name):
      guard let secret = environment[name].flatMap({ Secret(Array($0.utf8)) }) else {
        throw SubledgerError(
          .configuration, "the environment variable that \(entry) names is not set, or empty",
          hint: "set it in the environment of the job, or use {file: PATH}")
      }
      return [secret]
    case .file(let path): return try fileSecrets(in: path, of: entry)
    case .credential(let name):
      guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
        throw SubledgerError(
          .configuration, "\(entry) names a credential, and the job was given none",
          hint: "name it in LoadCredential= of the job's unit, or use {file: PATH}")
      }
      // systemd controls who can read it.
      return try fileSecrets(in: "\(folder)/\(name)", of: entry, isOwned: false)
    }
  }

  /// A warning about secrets in the configuration for the operator; nil if there is none.
  var secretsWarning: String? {
    guard let path = configuration.path,
      configuration.secrets.values.joined().contains(where: \.isWritten)
    else { return nil }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 != 0 else { return nil }
    return "the configuration \(path) holds secrets and others can read it;"
      + " let only the job's user read it, or name the secrets by {env: NAME} or {file: PATH}"
  }
}

/// What to do about a file that others can read, which the job's user still has to read.
let chownHint = "give it to the job's user, and run chmod 600 on it"

/// Returns the secrets in a file, one per line; `entry` names it in the configuration, and
/// `isOwned` requires that only its owner can read it.
private func fileSecrets(
  in path: String, of entry: String, isOwned: Bool = true
) throws(SubledgerError) -> [Secret] {
  func refused(_ reason: String, _ hint: String) -> SubledgerError {
    SubledgerError(.configuration, "the file that \(entry) names \(reason)", hint: hint)
  }
  func unreadable() -> SubledgerError {
    .system("read the file that \(entry) names", .configuration, cause: errno)
  }
  let bytesMax = 64 << 10
  // Opening a pipe without a writer would block forever.
  guard let file = OpenFile(path, O_RDONLY | O_NONBLOCK) else { throw unreadable() }
  // The open file is checked, so that it cannot be replaced in between.
  guard let rights = file.rights() else {
    throw refused("is not a regular file", "give the path of a file")
  }
  guard !isOwned || rights & 0o077 == 0 else {
    let mode = String(rights, radix: 8)
    throw refused("can be read by others than its owner (mode \(mode))", chownHint)
  }
  var bytes = [UInt8](repeating: 0, count: bytesMax)
  guard let count = bytes.withUnsafeMutableBytes({ file.read(into: $0) }) else {
    throw unreadable()
  }
  let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
  let lines = bytes[..<count].dropFirst(bytes.starts(with: mark) ? mark.count : 0)
  let secrets = lines.split(separator: UInt8(ascii: "\n")).compactMap { Secret(Array($0)) }
  guard !secrets.isEmpty, count < bytesMax else {
    throw refused("holds no secret, or more than \(bytesMax) bytes", "write one per line")
  }
  return secrets
}
