public import Domain
public import Formats

/// Settings for reading bodies.
public struct NormaliserSettings: Sendable {
  /// Event names as configured in the provider's dashboard, and their meaning.
  ///
  /// Qonversion allows every project to rename its events; a name here overrides the default
  /// meaning of that name.
  public var eventNames: [String: EventKind] = [:]
  /// Names of members in a project's own archives.
  public var envelope = EnvelopeNames()
  /// The member with the app's own id of a user; nil if it is not read.
  public var customerID: CustomerIDMember?
  /// The secrets of each provider, of which a delivery must contain one if it contains any secret.
  ///
  /// A provider without an entry needs none.
  public var secrets: [Provider: [Secret]] = [:]
  /// Values rejected for their secret in an earlier reading, by offset in the inflated archive,
  /// with the text of the rejection: they are rejected again, whatever secrets are configured now.
  public var refused: [Int64: String] = [:]
  /// The maximum length of a stored id, name or word in bytes; a longer one rejects its line.
  public static let wordBytesMax = 1_024

  /// The defaults: the providers' own event names.
  public init() {}
}

/// Turns the lines of an archive into events; each worker reuses one for all its chunks.
public struct Normaliser {
  private var finder: BodyFinder

  /// A normaliser that reads bodies by `rules`.
  public init(rules: NormaliserSettings) { finder = BodyFinder(rules: rules) }

  /// Adds the content of a chunk to `batch`: events, rejects without content of the lines, and
  /// counts of its values.
  ///
  /// If a value contains many webhooks, each rejected one counts as a separate value.
  public mutating func add(_ chunk: ArchiveChunk, to batch: inout EventBatch) {
    guard case .lines(let bytes, let firstLine, let firstOffset) = chunk else {
      return chunk.addOversized(to: &batch.rejects, &batch.lines)
    }
    var cursor = ValueCursor(bytes, firstLine: firstLine)
    while cursor.next() {
      let start = cursor.position
      let place = Provenance(line: cursor.line, byteOffset: firstOffset + Int64(start))
      do throws(JSONProblem) {
        let end = try finder.read(cursor.lineBytes, from: start)
        try cursor.pass(to: end)
        batch.account(for: finder.unwrap(at: place, to: &batch), at: place)
      } catch {
        if let line = cursor.wholeLine,
          let outcome = finder.unwrap(logLine: line, at: place, to: &batch)
        {
          batch.account(for: outcome, at: place)
          cursor.passLine()
        } else {
          batch.rejects.add(BodyProblem(error, start: start), at: place)
          cursor.passBroken()
        }
      }
      batch.lines += 1
      for (problem, place) in finder.refusedParts {
        batch.rejects.add(problem, at: place)
        batch.lines += 1
      }
    }
  }
}

extension ArchiveChunk {
  /// Counts a value that is too long for memory, if the chunk is one.
  func addOversized(to rejects: inout [Reject], _ lines: inout Int64) {
    guard case .oversizedValue(let line, let byteOffset) = self else { return }
    rejects.add(.tooLong, at: Provenance(line: line, byteOffset: byteOffset))
    lines += 1
  }
}

extension EventBatch {
  /// Counts a value without events.
  mutating func account(for outcome: Outcome, at place: Provenance) {
    switch outcome {
    case .handled(nil): break
    case .handled(let reason?): skipped[reason.rawValue, default: 0] += 1
    case .empty: skipped[SkipReason.registrationProbe.rawValue, default: 0] += 1
    case .refused(let problem), .unknown(let problem): rejects.add(problem, at: place)
    }
  }

  mutating func noteUnknown(
    _ subject: UnknownName.Subject, _ name: UnsafeRawBufferPointer, of delivery: Delivery
  ) {
    unknown.add(delivery.provider, subject, name, value: lines, line: delivery.place.line)
  }
}

extension [Reject] {
  mutating func add(_ problem: BodyProblem, at place: Provenance) {
    append(Reject(place: place, reason: problem.reason.rawValue, detail: problem.detail))
  }
}

extension BodyProblem {
  static let tooLong = BodyProblem(.valueTooLong, "the value is longer than limits.value_bytes")

  /// The JSON defect of a value that begins at `start`.
  init(_ problem: JSONProblem, start: Int) {
    self.init(.notJSON, "\(problem.reason) at byte \(problem.offset - start) of the value")
  }
}
