enum Release {
  /// Semantic version; the manifest of every report set carries it.
  static let version = "0.1.0"
}
