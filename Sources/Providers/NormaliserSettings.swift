public import Domain

/// What the reading of bodies depends on besides them.
public struct NormaliserSettings: Sendable {
  /// Event names as the provider's dashboard was told to send them, and what they mean.
  ///
  /// Qonversion lets every project rename its events; a name here beats the default of that name.
  public var eventNames: [String: EventKind] = [:]
  /// Secrets of which a provider's deliveries carry one, where they carry any at all; a provider
  /// without an entry is not asked for one.
  public var secrets: [Provider: [Secret]] = [:]
  /// Values that were refused for their secret when they were read before, by their offset in the
  /// inflated archive, with what was told of them: they are refused again, whatever holds now.
  public var refused: [Int64: String] = [:]
  /// Bytes of the longest id, name or word that is kept; a longer one rejects its line.
  public var wordBytesMax = 1_024

  /// The defaults: the providers' own event names.
  public init() {}
}
