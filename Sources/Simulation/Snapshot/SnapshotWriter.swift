import Domain

/// Writes what everybody owns at the end of the world: once per shape of Qonversion, and once for
/// each other provider.
struct SnapshotWriter {
  private let span: Span
  private var time: Int64 { span.end }
  private let shapes: [SnapshotShape]
  private let files: [GzipFile]
  private var otherFiles: [Provider: GzipFile] = [:]
  private var lines = Bytes()
  /// Users written, by shape.
  private(set) var users: [SnapshotShape: Int] = [:]

  init(_ folder: String, _ plan: WorldPlan, _ span: Span) throws(SimulateError) {
    self.span = span
    shapes = plan.tellers.contains(.qonversion) ? plan.snapshotShapes : []
    var files: [GzipFile] = []
    let name = civilDay(of: span.end).text
    for shape in shapes {
      files.append(try GzipFile(path: "\(folder)/\(shape.rawValue)/\(name).jsonl.gz"))
    }
    self.files = files
    for provider in plan.tellers where provider != .qonversion {
      otherFiles[provider] = try GzipFile(
        path: "\(folder)/\(provider.name)/\(name).jsonl.gz")
    }
  }

  /// Adds the user of a life as the life's provider knows it.
  mutating func add(_ life: Life) throws(SimulateError) {
    let provider = life.person.shop.provider
    guard provider == .qonversion else {
      lines.removeAll()
      life.writeSnapshot(span, into: &lines)
      try otherFiles[provider]?.write(lines)
      return
    }
    let holders = life.holders(at: time)
    for (shape, file) in zip(shapes, files) {
      lines.removeAll()
      for holder in holders where shape.shows(holder) {
        shape.write(holder, at: time, into: &lines)
        users[shape, default: 0] += 1
      }
      try file.write(lines)
    }
  }

  func finish() throws(SimulateError) {
    for file in files { try file.finish() }
    for file in otherFiles.values { try file.finish() }
  }
}

extension SnapshotShape {
  /// The SDK sees sandbox and family members; the REST interfaces know production keys and
  /// cannot tell who shares.
  func shows(_ holder: Holder) -> Bool {
    switch self {
    case .sdk, .sdkObject, .canonical: return true
    case .v3, .v4, .purchases:
      let isShared = holder.holdings.contains { $0.origin == .familySharing }
      return holder.person.environment == .production && !isShared
    }
  }

  func write(_ holder: Holder, at time: Int64, into line: inout Bytes) {
    switch self {
    case .v3: writeV3(holder, at: time, into: &line)
    case .v4: writeV4(holder, at: time, into: &line)
    case .purchases: writePurchases(holder, at: time, into: &line)
    case .sdk: SDKNames.wire.write(holder, at: time, into: &line)
    case .sdkObject: SDKNames.object.write(holder, at: time, into: &line)
    case .canonical: SDKNames.canonical.write(holder, at: time, into: &line)
    }
  }
}
