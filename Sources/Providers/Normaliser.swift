public import Domain
public import Formats

/// Settings that reading bodies depends on.
public struct NormaliserSettings: Sendable {
  /// Event names as configured in the provider's dashboard, and their meaning.
  ///
  /// Qonversion lets every project rename its events; a name here beats the default of that name.
  public var eventNames: [String: EventKind] = [:]
  /// Members of a project's own archives.
  public var envelope = EnvelopeNames()
  /// Where the app's own id of a user stands; nil reads none.
  public var customerID: CustomerIDMember?
  /// Secrets, one of which a provider's deliveries must carry if they carry any; a provider without
  /// an entry needs none.
  public var secrets: [Provider: [Secret]] = [:]
  /// Values that were rejected for their secret when they were read before, by their offset in the
  /// inflated archive, with their texts: they are rejected again, whatever secrets are configured
  /// now.
  public var refused: [Int64: String] = [:]
  /// Bytes of the longest id, name or word that is kept; a longer one rejects its line.
  public static let wordBytesMax = 1_024

  /// The defaults: the providers' own event names.
  public init() {}
}

/// Turns the lines of an archive into events; one per worker, reused from chunk to chunk.
public struct Normaliser {
  private var unwrapping: Unwrapping

  /// A normaliser that reads bodies by `rules`.
  public init(rules: NormaliserSettings) { unwrapping = Unwrapping(rules: rules) }

  /// Adds what a chunk brings to `batch`: events, rejects, which contain nothing of the lines, and
  /// the account of its values.
  ///
  /// Of a value that holds many webhooks, one that is refused counts as a value of its own.
  public mutating func add(_ chunk: ArchiveChunk, to batch: inout EventBatch) {
    guard case .lines(let bytes, let firstLine, let firstOffset) = chunk else {
      return chunk.addOversized(to: &batch.rejects, &batch.lines)
    }
    var cursor = ValueCursor(bytes, firstLine: firstLine)
    while cursor.next() {
      let start = cursor.position
      let place = Provenance(line: cursor.line, byteOffset: firstOffset + Int64(start))
      do throws(JSONProblem) {
        let end = try unwrapping.read(cursor.lineBytes, from: start)
        try cursor.pass(to: end)
        batch.account(for: unwrapping.unwrap(at: place, to: &batch), at: place)
      } catch {
        if let line = cursor.wholeLine,
          let outcome = unwrapping.unwrap(logLine: line, at: place, to: &batch)
        {
          batch.account(for: outcome, at: place)
          cursor.passLine()
        } else {
          batch.rejects.add(BodyProblem(error, start: start), at: place)
          cursor.passBroken()
        }
      }
      batch.lines += 1
      for (problem, place) in unwrapping.refusedParts {
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
  /// Books a value that brought no event.
  mutating func account(for outcome: Outcome, at place: Provenance) {
    switch outcome {
    case .handled(nil): break
    case .handled(let reason?): skipped[reason.rawValue, default: 0] += 1
    case .empty: skipped[SkipReason.registrationProbe.rawValue, default: 0] += 1
    case .refused(let problem), .unknown(let problem): rejects.add(problem, at: place)
    }
  }

  mutating func noteUnknown(
    _ subject: UnknownName.Subject, _ name: UnsafeRawBufferPointer, of provider: Provider,
    at place: Provenance
  ) {
    unknown.add(provider, subject, name, value: lines, line: place.line)
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
