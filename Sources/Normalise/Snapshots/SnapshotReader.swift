public import Vocabulary
import Decode

/// What a stretch of a snapshot file brought.
public struct SnapshotBatch: Sendable {
  /// One per accepted line.
  public var snapshots: [Snapshot] = []
  /// Lines that could not be understood; nothing of them is kept.
  public var rejects: [Reject] = []
  /// JSON values seen: snapshots, rejects, and those that lack the moment they were taken.
  public var lines: Int64 = 0
  /// Whether nothing says when some line was taken, so that the file must be refused.
  ///
  /// It has no `captured_at`, the file's name has no date, and no default was given.
  public var needsCapturedAt = false

  /// An empty batch.
  public init() {}
}

/// Turns the lines of a snapshot file into snapshots, one user per line.
public struct SnapshotReader {
  private var tape = JSONTape()
  private var members = Members<SnapshotField>()
  private var entitlements = EntitlementReader()
  private var purchases = PurchaseReader()

  /// A reader of all shapes that are known.
  public init() {}

  /// Adds what a stretch of whole lines brings.
  ///
  /// - Parameters:
  ///   - bytes: the lines, with their line ends.
  ///   - firstLine: the physical line, from 1, of the first byte.
  ///   - firstOffset: the first byte's offset in the inflated file.
  ///   - fileName: the file's name or path; a date in the name stands in for `captured_at`.
  ///   - capturedAtDefault: stands in when the name has no date either.
  ///   - result: gets the snapshots.
  public mutating func read(
    _ bytes: UnsafeRawBufferPointer, firstLine: Int64, firstOffset: Int64, fileName: String,
    capturedAtDefault: Instant?, to result: inout SnapshotBatch
  ) {
    let standIn = captureTime(fileName: fileName) ?? capturedAtDefault
    var cursor = ValueCursor(bytes, firstLine: firstLine)
    while cursor.next() {
      let start = cursor.position
      let place = Place(line: cursor.line, byteOffset: firstOffset + Int64(start))
      do throws(JSONProblem) {
        let end = try tape.read(cursor.lineBytes, from: start)
        add(place, standIn: standIn, to: &result)
        cursor.pass(to: end)
      } catch {
        result.reject(BodyProblem(error, start: start), at: place)
        cursor.passLine()
      }
      result.lines += 1
    }
  }

  /// Accounts for a line that is longer than what is held in memory.
  public mutating func addOversized(
    line: Int64, byteOffset: Int64, to result: inout SnapshotBatch
  ) {
    result.reject(.tooLong, at: Place(line: line, byteOffset: byteOffset))
    result.lines += 1
  }

  private mutating func add(_ place: Place, standIn: Instant?, to result: inout SnapshotBatch) {
    do throws(BodyProblem) {
      guard var snapshot = try snapshot(standIn: standIn) else {
        result.needsCapturedAt = true
        return
      }
      snapshot.place = place
      result.snapshots.append(snapshot)
    } catch {
      result.reject(error, at: place)
    }
  }

  /// The snapshot on the tape; nil when nothing says when it was taken.
  private mutating func snapshot(standIn: Instant?) throws(BodyProblem) -> Snapshot? {
    switch tape.kind(0) {
    case .object: members.read(0, of: tape)
    case .array: throw BodyProblem(.missingField, "user_id: a bare list says not whose it is")
    default: throw BodyProblem(.notAnObject, "the value is no JSON object")
    }
    let list = members.value(.entitlements, tape) ?? members.value(.data, tape)
    if list == nil { try refuseOtherShapes() }
    let provider = try provider()
    let user = try tape.text(members.value(.user, tape), "user_id")
    guard !user.isEmpty else { throw .missing("user_id") }
    let app = try tape.text(members.value(.app, tape), "app_id")
    guard let list else { throw .missing("entitlements") }
    let sentAt = try tape.instant(members.value(.capturedAt, tape), "captured_at")
    let rights = try rights(list)
    guard let capturedAt = sentAt ?? standIn else { return nil }
    return Snapshot(
      provider: provider, app: app, user: user, capturedAt: capturedAt, entitlements: rights)
  }

  /// Names what a line without a list of entitlements is, when that is known.
  private func refuseOtherShapes() throws(BodyProblem) {
    if members.value(.error, tape) != nil {
      throw BodyProblem(.errorResponse, "the line is an error that the provider's API returned")
    }
    if members.value(.purchases, tape) != nil {
      throw BodyProblem(
        .unsupportedProvider, "snapshots with purchases are not read by this version")
    }
  }

  private func provider() throws(BodyProblem) -> Provider {
    guard let named = members.value(.provider, tape) else { return .qonversion }
    guard let provider = Provider(name: try tape.text(named, "provider")) else {
      throw BodyProblem(.unknownProvider, "provider: none of the known names")
    }
    return provider
  }

  private mutating func rights(_ list: JSONNode) throws(BodyProblem) -> [Entitlement] {
    let more = members.value(.hasMore, tape)
    let isWhole = try !(tape.flag(more, "has_more") ?? false)
    if purchases.isPurchaseList(list, of: tape) {
      return try purchases.entitlements(list, of: tape, isWhole: isWhole)
    }
    guard isWhole else {
      throw BodyProblem(.incompleteList, "has_more: the list goes on in another response")
    }
    return try entitlements.entitlements(list, of: tape)
  }
}

extension SnapshotBatch {
  /// Books a line that cannot be understood.
  mutating func reject(_ problem: BodyProblem, at place: Place) {
    rejects.append(
      Reject(place: place, reason: problem.reason.rawValue, detail: problem.detail))
  }
}
