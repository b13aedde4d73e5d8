/// One stream of deliveries: what a provider tells of an app.
public struct Feed: Sendable, Hashable {
  /// Who tells.
  public var provider: Provider
  /// The ledger's symbol of the app.
  public var app: StringID

  /// The stream of `provider` about `app`.
  public init(provider: Provider, app: StringID) {
    self.provider = provider
    self.app = app
  }
}
