import Reconciliation
import Domain

/// Walks the tree of a configuration file; a key that nobody knows is an error, not a typo's grave.
struct ConfigurationReader {
  let path: String

  func read(_ tree: Any?) throws(SubledgerError) -> Configuration {
    var configuration = Configuration()
    configuration.path = path
    for (key, value) in try mapping(tree ?? [String: Any](), "the file") {
      if key == "snapshots", value is [AnyHashable: Any] {
        try readSnapshots(value, into: &configuration)
      } else if let option = OptionName(rawValue: key), option != .config {
        try read(option, value, into: &configuration.options)
      } else {
        try read(key, value, into: &configuration)
      }
    }
    return configuration
  }

  private func read(
    _ key: String, _ value: Any, into configuration: inout Configuration
  ) throws(SubledgerError) {
    switch key {
    case "products": try readProducts(value, into: &configuration)
    case "periods":
      for (product, period) in try mapping(value, key) {
        try set(length(period, "periods.\(product)"), of: product, in: &configuration)
      }
    case "event_names":
      for (name, kind) in try mapping(value, key) {
        configuration.eventNames[name] = try eventKind(kind, "event_names.\(name)")
      }
    case "renewal_gap": configuration.renewalGap = try interval(value, key)
    case "retry_horizon": configuration.retryHorizon = try interval(value, key)
    case "freshness_max": configuration.freshnessMax = try interval(value, key)
    case "delivery_window": try readWindows(value, into: &configuration)
    case "delivery_retries":
      for (name, retries) in try mapping(value, key) {
        guard let provider = Provider(name: name) else { throw unknown("\(key).\(name)") }
        configuration.retrySchedules[provider] = try schedule(retries, "\(key).\(name)")
      }
    case "breaks": try readBreaks(value, into: &configuration)
    case "limits": try readLimits(value, into: &configuration)
    case "secrets": configuration.secrets = try secrets(value)
    case "materiality": configuration.materialityShare = try share(value, key)
    default: throw unknown(key)
    }
  }

  private func read(
    _ option: OptionName, _ value: Any, into options: inout Options
  ) throws(SubledgerError) {
    let key = option.rawValue
    switch option.slot {
    case .text(let path), .word(let path, _): options[keyPath: path] = try text(value, key)
    case .list(let path): options[keyPath: path] = try list(value, key)
    case .number(let path, let range): options[keyPath: path] = try number(value, key, in: range)
    case .flag(let path): options[keyPath: path] = try flag(value, key)
    }
  }

  /// `pro_monthly: com.example.pro.monthly`, a list of such ids, or `{ids: […], period: P1M}`.
  private func readProducts(
    _ value: Any, into configuration: inout Configuration
  ) throws(SubledgerError) {
    for (product, entry) in try mapping(value, "products") {
      let key = "products.\(product)"
      guard let fields = entry as? [AnyHashable: Any] else {
        configuration.products[product] = try list(entry, key)
        continue
      }
      var ids = [product]
      var period: PeriodLength?
      for (name, field) in try mapping(fields, key) {
        switch name {
        case "ids": ids = try list(field, "\(key).ids")
        case "period": period = try length(field, "\(key).period")
        default: throw unknown("\(key).\(name)")
        }
      }
      configuration.products[product] = ids
      if let period { for id in ids { try set(period, of: id, in: &configuration) } }
    }
  }

  /// `products` and `periods` can both tell how long a product's period is.
  private func set(
    _ period: PeriodLength, of product: String, in configuration: inout Configuration
  ) throws(SubledgerError) {
    if let other = configuration.periods[product], other != period {
      throw wrong(
        "periods.\(product)",
        "must be one length: `periods` and `products` say \(period.iso) and \(other.iso)")
    }
    configuration.periods[product] = period
  }

  /// Paths, or `{paths: […], complete: true}`.
  private func readSnapshots(
    _ value: Any, into configuration: inout Configuration
  ) throws(SubledgerError) {
    for (name, field) in try mapping(value, "snapshots") {
      switch name {
      case "paths": configuration.options.snapshots = try list(field, "snapshots.paths")
      case "complete": configuration.snapshotsAreComplete = try flag(field, "snapshots.complete")
      default: throw unknown("snapshots.\(name)")
      }
    }
  }

  private func readWindows(
    _ value: Any, into configuration: inout Configuration
  ) throws(SubledgerError) {
    for (name, window) in try mapping(value, "delivery_window") {
      guard let provider = Provider(name: name) else { throw unknown("delivery_window.\(name)") }
      configuration.deliveryWindows[provider] = try interval(window, "delivery_window.\(name)")
    }
  }

  private func readLimits(
    _ value: Any, into configuration: inout Configuration
  ) throws(SubledgerError) {
    for (name, limit) in try mapping(value, "limits") {
      switch name {
      case "value_bytes": configuration.valueBytesMax = try size(limit, "limits.value_bytes")
      case "rejected_share":
        configuration.rejectedShare = try share(limit, "limits.rejected_share")
      default: throw unknown("limits.\(name)")
      }
    }
  }

  private func unknown(_ key: String) -> SubledgerError {
    SubledgerError(
      .configuration, "the configuration \(path) has an unknown key `\(key)`",
      hint: "subledger.example.yaml shows every key")
  }
}

/// The keys of `breaks`: from where on a break matters how much.
extension ConfigurationReader {
  /// `{severity_usd: {medium: 1, …}, severity_days: {medium: 8, …}}`; each step at least the one
  /// before it.
  private func readBreaks(
    _ value: Any, into configuration: inout Configuration
  ) throws(SubledgerError) {
    for (name, steps) in try mapping(value, "breaks") {
      switch name {
      case "severity_usd": try readAmounts(steps, into: &configuration.severity.amounts)
      case "severity_days": try readDays(steps, into: &configuration.severity.days)
      default: throw unknown("breaks.\(name)")
      }
    }
  }

  private func readAmounts(
    _ value: Any, into scale: inout SeverityScale
  ) throws(SubledgerError) {
    for (step, limit) in try mapping(value, "breaks.severity_usd") {
      let key = "breaks.severity_usd.\(step)"
      switch step {
      case "medium": scale.medium = try amount(limit, key)
      case "high": scale.high = try amount(limit, key)
      case "critical": scale.critical = try amount(limit, key)
      default: throw unknown(key)
      }
    }
    guard scale.medium <= scale.high, scale.high <= scale.critical else {
      throw wrong("breaks.severity_usd", "must rise from medium over high to critical")
    }
  }

  private func readDays(
    _ value: Any, into days: inout [Severity: Int64]
  ) throws(SubledgerError) {
    for (step, limit) in try mapping(value, "breaks.severity_days") {
      let key = "breaks.severity_days.\(step)"
      switch Severity(rawValue: step) {
      case .some(let severity) where severity >= .medium:
        days[severity] = Int64(try number(limit, key, in: 0...1_000_000))
      default: throw unknown(key)
      }
    }
    let limits = Severity.allCases.compactMap { days[$0] }
    guard limits == limits.sorted() else {
      throw wrong("breaks.severity_days", "must rise from medium over high to critical")
    }
  }
}
