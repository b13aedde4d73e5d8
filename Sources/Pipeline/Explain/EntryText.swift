import Reports
import Domain

extension ExplanationWriter {
  /// The columns of the CSV form: one line per event and column that it has a share in; what only
  /// decides about a share has a line without column.
  static let columns = [
    "at", "step", "column", "share", "role", "break_id", "provider", "app_id", "environment",
    "store", "user_id", "subscription_id", "transaction_id", "product_id", "kind", "told_as",
    "event_at", "created_at", "received_at", "archive", "sha256", "line", "byte_offset", "body",
  ]

  static func cells(of entry: Entry) -> [[CSVCell]] {
    var lines: [[CSVCell]] = []
    func add(_ column: String, _ share: String, _ event: EventLine?) {
      lines.append(
        [
          .plain(entry.at?.text ?? ""), .text(entry.step), .plain(column), .plain(share),
          .plain(event?.isContext == true ? "context" : "carries"), .plain(entry.breakID),
        ] + (event ?? EventLine()).cells(isThere: event != nil))
    }
    let shares = entry.shares.isEmpty ? [("", "")] : entry.shares
    for (column, share) in shares { add(column, share, entry.events.first) }
    for event in entry.events.dropFirst() { add("", "", event) }
    return lines
  }

  /// The entry and each of its events, indented.
  static func lines(of entry: Entry) -> [String] {
    let shares = entry.shares.map { share in
      let sign = share.text.hasPrefix("-") || share.text.isEmpty ? "" : "+"
      return "\(share.column) \(share.text.isEmpty ? "unknown" : sign + share.text)"
    }
    let head = [entry.at?.text ?? "", entry.step, entry.breakID].filter { !$0.isEmpty }
    let tail = shares.isEmpty ? "" : ": \(shares.joined(separator: ", "))"
    return ["", head.joined(separator: "  ") + tail] + entry.events.flatMap(\.lines)
  }
}

extension EventLine {
  func cells(isThere: Bool) -> [CSVCell] {
    guard isThere else { return Array(repeating: .plain(""), count: 18) }
    return [
      .plain(provider), .text(app), .plain(environment), .plain(store), .text(user),
      .text(subscription), .text(transaction), .text(product), .plain(kind), .plain(toldAs),
      .plain(time.text), .plain(created?.text ?? ""), .plain(received?.text ?? ""),
      .name(archive), .plain(sha256), .plain("\(line)"), .plain("\(byteOffset)"),
      .plain(bodyText),
    ]
  }

  var json: JSONValue {
    let texts: [(String, String)] = [
      ("role", isContext ? "context" : "carries"), ("provider", provider), ("app_id", app),
      ("environment", environment), ("store", store), ("user_id", user),
      ("subscription_id", subscription), ("transaction_id", transaction),
      ("product_id", product), ("kind", kind), ("told_as", toldAs), ("event_at", time.text),
      ("created_at", created?.text ?? ""), ("received_at", received?.text ?? ""),
      ("archive", archive), ("sha256", sha256), ("body", bodyText),
    ]
    var members = texts.filter { !$0.1.isEmpty }.map { ($0.0, JSONValue.string($0.1)) }
    members.append(("line", .integer(line)))
    members.append(("byte_offset", .integer(byteOffset)))
    return .object(Dictionary(members, uniquingKeysWith: { $1 }))
  }

  /// The event with its user, and its provenance.
  var lines: [String] {
    let told = toldAs.isEmpty ? kind : "\(kind), told as \(toldAs)"
    let ids = [
      ("subscription", subscription), ("transaction", transaction), ("user", user),
    ].filter { !$0.1.isEmpty }.map { ", \($0.0) \($0.1.escaped)" }.joined()
    let came = received.map { ", received \($0.text)" } ?? ""
    return [
      "  \(isContext ? "after" : "by") \(told) of \(time.text), \(provider)\(ids)",
      "    \(archive) line \(line) byte \(byteOffset), body \(bodyText)\(came)",
    ]
  }
}
