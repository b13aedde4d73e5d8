public import Domain
public import Formats

/// The content of a range of a snapshot file.
public struct SnapshotBatch: Sendable {
  /// Snapshots of accepted lines, in order; a list of customers gives several.
  public var snapshots: [Snapshot] = []
  /// Lines that could not be parsed, without their content.
  public var rejects: [Reject] = []
  /// JSON values read: snapshots, rejects and values without a capture time.
  public var lines: Int64 = 0
  /// Whether a line has no capture time, so that the file must be rejected.
  ///
  /// Such a line has no `captured_at`, the file's name has no date, and no default was given.
  public var needsCapturedAt = false

  /// An empty batch.
  public init() {}
}

/// Turns the lines of a snapshot file into snapshots: one user per line, or a list of customers.
///
/// A class, because a structure with so many buffers would be copied for each line.
public final class SnapshotReader {
  private var tape = JSONTape()
  private var members = Members<SnapshotField>()
  private var entitlements = EntitlementReader()
  private var purchases = QonversionPurchaseReader()
  private var others: [Provider: any ProviderSnapshotReader] = [:]

  /// A reader of all known shapes.
  public init() {
    for mapper in Providers.all { others[mapper.provider] = mapper.snapshots }
  }

  /// Adds the content of a chunk.
  ///
  /// - Parameter capturedAtDefault: used if a line has no `captured_at`: the date in the file's
  ///   name (`captureTime`) or the option's value; without it such a line is left out.
  public func read(
    _ chunk: ArchiveChunk, capturedAtDefault: Instant?, to result: inout SnapshotBatch
  ) {
    guard case .lines(let bytes, let firstLine, let firstOffset) = chunk else {
      return chunk.addOversized(to: &result.rejects, &result.lines)
    }
    var cursor = ValueCursor(bytes, firstLine: firstLine)
    while cursor.next() {
      let start = cursor.position
      let place = Provenance(line: cursor.line, byteOffset: firstOffset + Int64(start))
      do throws(JSONProblem) {
        let end = try tape.read(cursor.lineBytes, from: start)
        try cursor.pass(to: end)
        do throws(BodyProblem) {
          try add(place, capturedAtDefault: capturedAtDefault, to: &result)
        } catch {
          result.rejects.add(error, at: place)
        }
      } catch {
        result.rejects.add(BodyProblem(error, start: start), at: place)
        cursor.passBroken()
      }
      result.lines += 1
    }
  }

  /// Adds the snapshots on the tape: one, or one per customer of a list.
  private func add(
    _ place: Provenance, capturedAtDefault: Instant?, to result: inout SnapshotBatch
  ) throws(BodyProblem) {
    switch tape.kind(0) {
    case .object: members.read(0, of: tape)
    case .array: throw BodyProblem(.missingField, "user_id: a list does not name its user")
    default: throw .notAnObject
    }
    if isErrorResponse { throw .errorResponse }
    // A webhook also has a user and entitlements, but not those of a snapshot.
    guard tape.member(0, "event_name") == nil else {
      throw .bad("event_name", expected: "a snapshot, not a delivered event")
    }
    let provider = try provider()
    let user = try tape.text(members[.user])
    let capturedAt = try tape.instant(members[.capturedAt]) ?? capturedAtDefault
    let held: [(user: String, entitlements: [Entitlement])]
    if user.isEmpty, let customers = try others[provider]?.customers(members, of: tape) {
      held = customers
    } else {
      guard !user.isEmpty else { throw .missing("user_id") }
      held = [(user, try entitlements(of: provider, at: capturedAt))]
    }
    let app = try tape.text(members[.app])
    guard let capturedAt else { return result.needsCapturedAt = true }
    result.snapshots += held.map {
      Snapshot(
        provider: provider, app: app, user: $0.user, capturedAt: capturedAt,
        entitlements: $0.entitlements, place: place)
    }
  }

  /// Whether the line is an error response of a provider's API.
  private var isErrorResponse: Bool {
    guard entitlementList == nil, members.value(.purchases) == nil else { return false }
    return tape.isErrorResponse(0) || members.value(.error) != nil
  }

  private var entitlementList: JSONNode? {
    members.value(.entitlements) ?? members.value(.data)
  }

  /// The provider that the line names, or the one whose shape it has.
  private func provider() throws(BodyProblem) -> Provider {
    if members.value(.provider) != nil {
      guard let provider = Provider(name: try tape.text(members[.provider])) else {
        throw BodyProblem(.unknownProvider, "provider: none of the known names")
      }
      return provider
    }
    if entitlementList != nil { return .qonversion }
    // Providers with a stricter shape come later in the list, so they are tried first.
    for mapper in Providers.all.reversed()
    where others[mapper.provider]?.recognises(members, of: tape) == true {
      return mapper.provider
    }
    return .qonversion
  }

  private func entitlements(
    of provider: Provider, at capturedAt: Instant?
  ) throws(BodyProblem) -> [Entitlement] {
    guard let list = entitlementList else {
      guard let held = try others[provider]?.entitlements(members, of: tape, at: capturedAt) else {
        throw .missing("entitlements")
      }
      return held
    }
    guard try tape.truth(members[.hasMore]) != true else {
      throw BodyProblem(.incompleteList, "has_more: the list continues in another response")
    }
    let held =
      purchases.isPurchaseList(list, of: tape)
      ? try purchases.entitlements(list, of: tape) : try entitlements.entitlements(list, of: tape)
    let mapper = Providers.all.first { $0.provider == provider }
    return mapper.map { held.map($0.withEventIDs) } ?? held
  }
}
