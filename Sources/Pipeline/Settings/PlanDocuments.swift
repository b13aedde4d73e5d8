import Formats
import Foundation
import EventStore
import Yams

extension Plan {
  /// The files that have an effect on the numbers, for the ledger to keep.
  func documents() throws(SubledgerError) -> RunDocuments {
    var documents = RunDocuments()
    documents.configuration = try document(configuration.source)
    documents.prices = try document(prices?.source)
    documents.decisions = try document(decisions.source)
    return documents
  }

  private func document(_ content: [UInt8]?) throws(SubledgerError) -> Document? {
    guard let content else { return nil }
    return try Document(content)
  }
}

extension Document {
  /// A document that says `content`.
  init(_ content: [UInt8]) throws(SubledgerError) {
    guard let body = gzipMember(of: content) else {
      throw SubledgerError(.inputOutput, "cannot pack a document: there is not enough memory")
    }
    self.init(sha256: Formats.sha256(of: content), body: body)
  }

  /// What the document says.
  ///
  /// - Throws: `SubledgerError` of kind `damagedInput` when it is not what its SHA-256 says.
  func content() throws(SubledgerError) -> [UInt8] {
    if let content = gzipContent(of: body, bytesMax: SettingsFile.sizeMax),
      Formats.sha256(of: content) == contentSHA256
    {
      return content
    }
    throw SubledgerError(
      .damagedInput, "cannot read the document \(sha256) of the ledger: it is damaged",
      hint: "keep the file, and rebuild the ledger from the archives in a new one")
  }
}

/// What of a configuration file the ledger keeps: keys that have an effect on the numbers.
///
/// Keys are kept by name, so that a secret or a path of the machine cannot slip in.
enum ConfigurationDocument {
  /// The keys that are kept.
  static let kept: Set<String> = [
    "as_of", "captured_at", "timezone", "csv_dialect", "amount_decimals", "products", "periods",
    "event_names", "renewal_gap", "retry_horizon", "freshness_max", "delivery_window",
    "delivery_retries", "breaks", "limits", "materiality",
  ]

  /// The kept part of a configuration, as YAML; nil when nothing of it is kept.
  static func of(_ text: String) throws -> [UInt8]? {
    let root = try Yams.compose(yaml: text, .default, .default, .utf8)
    guard let mapping = root?.mapping else { return nil }
    var pairs: [(Node, Node)] = []
    for (name, value) in values(of: mapping) {
      if kept.contains(name) {
        pairs.append((Node(name), value))
      } else if name == "snapshots", let complete = value.mapping.map(values)?["complete"] {
        pairs.append((Node(name), Node([(Node("complete"), complete)])))
      }
    }
    guard !pairs.isEmpty else { return nil }
    return Array(try Yams.serialize(node: Node(pairs), sortKeys: true).utf8)
  }

  /// The values of a mapping by name, with those that it merges from others by `<<` (YAML 1.1): its
  /// own come first, and of the others the earlier ones.
  private static func values(of mapping: Node.Mapping) -> [String: Node] {
    var values: [String: Node] = [:]
    var merged: [String: Node] = [:]
    for (key, value) in mapping {
      guard let name = key.scalar?.string else { continue }
      if name == "<<" {
        for other in value.mapping.map({ [$0] }) ?? value.sequence?.compactMap(\.mapping) ?? [] {
          merged.merge(self.values(of: other)) { first, _ in first }
        }
      } else {
        values[name] = value
      }
    }
    return values.merging(merged) { own, _ in own }
  }
}
