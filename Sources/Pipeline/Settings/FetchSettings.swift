import Domain

struct FetchSettings: Sendable {
  struct Source: Sendable {
    var key: SecretSource?
    /// Scheme, host and the part before the API's path; nil for the provider's own.
    var url: String?
    var api = API.v4
  }

  /// The Qonversion API to fetch from.
  enum API: String, CaseIterable, Sendable {
    /// The entitlements of the older API.
    case v3
    /// Entitlements and purchases.
    case v4
    case v4Entitlements = "v4_entitlements"
    case v4Purchases = "v4_purchases"

    func records(of provider: Provider) -> [FetchRequest.Record] {
      switch self {
      case .v4: provider.interface.records
      case .v3, .v4Entitlements: [.entitlements]
      case .v4Purchases: [.purchases]
      }
    }
  }

  var sources: [Provider: Source] = [:]
  /// Maximum number of requests per second.
  var rate = 20
  /// Maximum number of concurrent requests.
  var concurrency = 8
  /// Certificates that are trusted instead of the system's.
  var authorities: GivenPath?

  static let rates = SettingForm.number(in: 1...10_000)
  static let concurrencies = SettingForm.number(in: 1...256)
  static let providers = Provider.allCases.filter { !$0.interface.host.isEmpty }

  /// The settings of the group, with their schema.
  static var members: [String: JSONValue] {
    let sources = providers.map { ($0.name, JSONValue.mapping(Source.members(of: $0))) }
    let common = ["rate": rates.schema, "concurrency": concurrencies.schema, "authorities": .text]
    return common.merging(sources) { $1 }
  }

  mutating func read(_ value: SettingValue) throws {
    try value.forEach { entry in
      switch entry.key {
      case "rate": rate = try Self.rates.read(entry)
      case "concurrency": concurrency = try Self.concurrencies.read(entry)
      case "authorities": authorities = try entry.path()
      default:
        guard let provider = Self.providers.first(where: { $0.name == entry.key }) else {
          throw entry.unknown(among: Array(Self.members.keys))
        }
        try sources[provider, default: Source()].read(entry, of: provider)
      }
    }
  }
}

extension Setting {
  static let fetching = [
    Setting(
      name: "fetch", schema: .mapping(FetchSettings.members), traits: [.secret],
      whenUnset: "no provider is asked",
      example: """

        qonversion: {key: {env: QONVERSION_KEY}, url: https://api.qonversion.io, api: v4}
        iaptic: {key: {file: /etc/subledger/iaptic.key}, url: https://validator.fovea.cc}
        flobuk: {url: https://api.iapguard.com}
        rate: 20
        concurrency: 8
        authorities: /etc/ssl/own.pem
        """,
      summary: "Which providers `subledger fetch` and `run --fetch` ask, and how (docs/fetch.md).",
      more: """
        A key is named by {env: NAME}, {file: PATH} or {credential: NAME}. `rate` is requests a \
        second, `concurrency` at once, for each provider; `authorities` are certificates (PEM) in \
        place of the system's.
        """
    ) { try $0.job.fetch.read($1) }
  ]
}

extension FetchSettings.Source {
  /// Returns the settings of a provider, with their schema.
  static func members(of provider: Provider) -> [String: JSONValue] {
    var members = ["url": JSONValue.string(like: "^https?://")]
    if provider.interface.authorization != .none {
      members["key"] = .any(
        .mapping(["env": .text]), .mapping(["file": .text]), .mapping(["credential": .text]))
    }
    if provider.interface.olderPath != nil {
      members["api"] = SettingForm<FetchSettings.API>.choice.schema
    }
    return members
  }

  mutating func read(_ value: SettingValue, of provider: Provider) throws {
    let known = Self.members(of: provider).keys
    try value.forEach { entry in
      guard known.contains(entry.key) else { throw entry.unknown(among: Array(known)) }
      switch entry.key {
      case "key":
        let source = try entry.secret()
        guard !source.isWritten else {
          throw entry.refused("name the key by {env: NAME}, {file: PATH} or {credential: NAME}")
        }
        key = source
      case "api": api = try SettingForm<FetchSettings.API>.choice.read(entry)
      default:
        let text = try entry.text()
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else {
          throw entry.refused("the value does not begin with https://")
        }
        url = text.hasSuffix("/") ? String(text.dropLast()) : text
      }
    }
  }
}
