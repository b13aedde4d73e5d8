import Formats
import Domain

/// Finds the bodies in a line, inside nested envelopes, and has them normalised.
struct BodyFinder {
  /// The most envelopes around one body.
  private static let layersMax = 8
  /// The most texts nested in each other.
  private static let textsMax = 5
  private var providers: Providers
  private let authentication: Authentication
  private let refused: [Int64: String]
  private var members: Members<EnvelopeField>
  /// The line's tape, then one for each text inside it.
  private var tapes: [JSONTape]
  /// Headers that a table stores as text.
  private var headers = JSONTape()
  private let headerNames: [String]
  /// The envelopes around the current value by depth, outermost first.
  private var envelopes: [(tape: Int, object: JSONNode)?]
  /// The rejected parts of the last value, which had accepted parts, too.
  private(set) var refusedParts: [(problem: BodyProblem, place: Provenance)] = []

  init(rules: NormaliserSettings) {
    providers = Providers(rules)
    authentication = Authentication(rules)
    refused = rules.refused
    members = Members(own: rules.envelope.fields)
    headerNames = rules.envelope.headers + ["headers", "multiValueHeaders", "rawHeaders"]
    tapes = (0...Self.textsMax).map { _ in JSONTape() }
    envelopes = Array(repeating: nil, count: Self.layersMax)
  }

  /// Reads the value at `start` and returns its end.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, from start: Int
  ) throws(JSONProblem) -> Int {
    try tapes[0].read(bytes, from: start)
  }

  /// Adds the events of the last value read to `batch`.
  mutating func unwrap(at place: Provenance, to batch: inout EventBatch) -> Outcome {
    // First, because unwrapping as a method's argument would run on a copy of all state.
    let outcome = begin(at: place) ?? open(Layer(place: place), 0, to: &batch)
    return named(outcome, by: 0)
  }

  /// Adds the events of a line that is not JSON but contains some; nil when it contains none.
  mutating func unwrap(
    logLine: UnsafeRawBufferPointer, at place: Provenance, to batch: inout EventBatch
  ) -> Outcome? {
    begin(at: place) ?? openLog(Layer(place: place), logLine, to: &batch)
  }

  private mutating func begin(at place: Provenance) -> Outcome? {
    refusedParts.removeAll()
    return refusal(at: place)
  }

  private func refusal(at place: Provenance) -> Outcome? {
    refused[place.byteOffset].map { .refused(BodyProblem(.unauthenticated, $0)) }
  }

  /// The nesting of a value in the line.
  private struct Layer {
    var place: Provenance
    var tape = 0
    var depth = 0
    /// The receive time in the outermost envelope that has one.
    var received: Instant?
    /// Offset of the line's value.
    let start: Int64

    init(place: Provenance) {
      self.place = place
      start = place.byteOffset
    }
  }

  private mutating func open(
    _ layer: Layer, _ node: JSONNode, to batch: inout EventBatch
  ) -> Outcome {
    let tape = tapes[layer.tape]
    switch tape.kind(node) {
    case .object where tape.count(node) == 0: return .empty
    case .object: return openObject(layer, node, on: tape, to: &batch)
    case .array: return openList(layer, node, on: tape, to: &batch)
    case .string: return openText(layer, tape.bytes(node), to: &batch)
    case .null where layer.depth > 0: return .empty
    default: return .unknown(.notAnObject)
    }
  }

  private mutating func openObject(
    _ layer: Layer, _ object: JSONNode, on tape: JSONTape, to batch: inout EventBatch
  ) -> Outcome {
    if let mapper = providers.mapper(of: object, on: tape) {
      return normalise(layer, object, on: tape, by: mapper, to: &batch)
    }
    // The first failure that is not about an empty value.
    var failure: Outcome?
    if layer.depth < Self.layersMax {
      let envelope = Envelope(object, of: tape, &members)
      envelopes[layer.depth] = (layer.tape, object)
      var inner = layer
      inner.depth += 1
      inner.received = layer.received ?? envelope.received
      if envelope.contents.isEmpty, tape.holdsOnlyLists(object) {
        return openList(inner, object, on: tape, to: &batch)
      }
      for content in envelope.contents {
        let outcome = open(inner, content, to: &batch)
        if outcome.isFinal { return outcome }
        if outcome.rank > failure?.rank ?? -1 { failure = outcome }
      }
      if case .empty = failure, envelope.isTooLarge {
        failure = .unknown(.tooLarge)
      }
      if envelope.isBare { failure = .empty }
      if case .empty = failure, providers.recognisesBody(in: object, of: tape) { failure = nil }
    }
    if let mapper = providers.mapper(of: object, on: tape, isDamaged: true) {
      return normalise(layer, object, on: tape, by: mapper, to: &batch)
    }
    if tape.isErrorResponse(object) { return .unknown(.errorResponse) }
    return failure ?? .unknown(.unknownBody)
  }

  /// Opens every element of a list, or of an object of lists; the best outcome counts for all.
  ///
  /// Text among webhooks, as in a log, is not a loss; a rejected webhook or a cut object is one.
  private mutating func openList(
    _ layer: Layer, _ list: JSONNode, on tape: JSONTape, to batch: inout EventBatch
  ) -> Outcome {
    let partsBefore = refusedParts.count
    let stamp = tape.leadingTime(of: list)
    var best: Outcome = stamp != nil && tape.count(list) == 1 ? .unknown(.notAnObject) : .empty
    var inner = layer
    inner.received = layer.received ?? stamp
    for child in tape.children(of: list).dropFirst(stamp == nil ? 0 : 1) {
      let element = tape.kind(list) == .object ? tape.value(ofKey: child) : child
      if layer.tape == 0 {
        let skipped = tape.span(element).lowerBound - tape.span(0).lowerBound
        inner.place.byteOffset = layer.start + Int64(skipped)
      }
      var outcome = refusal(at: inner.place) ?? open(inner, element, to: &batch)
      switch outcome {
      case .refused(let problem): refusedParts.append((problem, inner.place))
      case .unknown(let problem) where !problem.isNoObject:
        refusedParts.append((problem, inner.place))
      case .unknown where tape.kind(element) != .object: outcome = .unknown(.notAnObject)
      default: break
      }
      if outcome.rank > best.rank { best = outcome }
    }
    if case .handled = best { return best }
    refusedParts.removeLast(refusedParts.count - partsBefore)
    return best
  }

  /// Opens text inside a line: nested JSON, base64 of it or of its gzip, or a log line.
  private mutating func openText(
    _ layer: Layer, _ text: UnsafeRawBufferPointer, to batch: inout EventBatch
  ) -> Outcome {
    let text = text.withoutByteOrderMark.trimmed
    if text.isEmpty { return .empty }
    guard layer.tape < Self.textsMax else { return .unknown(.unknownBody) }
    // Base64 never begins like JSON, so the envelope's own flag is not needed.
    return openPlain(layer, text, to: &batch)
      ?? LogText.decoded(text).withUnsafeBytes { openPlain(layer, $0.trimmed, to: &batch) }
      ?? .unknown(.textNotJSON)
  }

  /// Opens JSON or a log line; nil if the text is neither.
  private mutating func openPlain(
    _ layer: Layer, _ text: UnsafeRawBufferPointer, to batch: inout EventBatch
  ) -> Outcome? {
    guard let first = text.first, LogText.beginsJSON(first) else {
      return openLog(layer, text, to: &batch)
    }
    guard let problem = parse(layer, text) else { return openText(in: layer, to: &batch) }
    return openLog(layer, text, to: &batch) ?? .unknown(problem)
  }

  /// Opens a log line that has JSON after a prefix, or with nginx's escapes; nil if it has none.
  private mutating func openLog(
    _ layer: Layer, _ text: UnsafeRawBufferPointer, to batch: inout EventBatch
  ) -> Outcome? {
    let plain = LogText.withoutEscapes(text)
    return (plain ?? []).withUnsafeBytes { plainBytes in
      let text = plain == nil ? text : plainBytes
      guard let start = LogText.start(of: text), start > 0 || plain != nil else { return nil }
      let json = UnsafeRawBufferPointer(rebasing: text[start...])
      if let problem = parse(layer, json, isInLog: true) {
        return problem.isCut && layer.depth > 0 ? .unknown(problem) : nil
      }
      var inner = layer
      inner.received = layer.received ?? LogText.time(of: text[..<start])
      let outcome = openText(in: inner, to: &batch)
      return layer.tape == 0 ? named(outcome, by: 1) : outcome
    }
  }

  /// Opens the text parsed last; a text counts as an envelope without members.
  private mutating func openText(in layer: Layer, to batch: inout EventBatch) -> Outcome {
    var inner = layer
    inner.tape += 1
    inner.depth = max(layer.depth, 1)
    if layer.depth == 0 { envelopes[0] = nil }
    return open(inner, 0, to: &batch)
  }

  /// Parses a text in `layer` onto the next tape; in a log line, text without braces may follow.
  private mutating func parse(
    _ layer: Layer, _ text: UnsafeRawBufferPointer, isInLog: Bool = false
  ) -> BodyProblem? {
    do throws(JSONProblem) {
      let end = try tapes[layer.tape + 1].read(text, from: 0)
      let rest = text[end...]
      let isWhole = isInLog ? !rest.contains { "{}".utf8.contains($0) } : rest.isEmpty
      return isWhole ? nil : .textNotJSON
    } catch {
      return BodyProblem(error, inEnvelope: text)
    }
  }

  private mutating func normalise(
    _ layer: Layer, _ object: JSONNode, on tape: JSONTape, by index: Int,
    to batch: inout EventBatch
  ) -> Outcome {
    let mapper = Providers.all[index]
    guard isAuthentic(object, of: mapper, in: layer) else {
      return .refused(.unauthenticated(mapper))
    }
    var delivery = Delivery(provider: mapper.provider, place: layer.place, received: layer.received)
    if let name = mapper.appHeader { delivery.app = header(name, of: object, in: layer) }
    let eventsBefore = batch.events.count
    do throws(BodyProblem) {
      let reason = try providers.mappers[index].normalise(object, of: tape, delivery, to: &batch)
      guard reason != nil || batch.events.count > eventsBefore else {
        return .refused(.withoutUser)
      }
      return .handled(reason)
    } catch {
      return .refused(error)
    }
  }

  /// The text of the header closest to the body.
  private mutating func header(
    _ name: StaticString, of object: JSONNode, in layer: Layer
  ) -> UnsafeRawBufferPointer {
    let headerNames = headerNames
    return first(around: object, in: layer) { $0.header(name, of: $1, in: headerNames) } ?? .none
  }

  /// Whether the delivery's secret is its provider's; the secret closest to the body decides.
  ///
  /// A delivery without a secret is authentic, because archives may not keep it.
  private mutating func isAuthentic(
    _ object: JSONNode, of mapper: any BodyMapper.Type, in layer: Layer
  ) -> Bool {
    guard authentication.covers(mapper) else { return true }
    if let isMatching = authentication.member(of: object, mapper, tapes[layer.tape]) {
      return isMatching
    }
    let (authentication, headerNames) = (authentication, headerNames)
    return first(around: object, in: layer) { tape, object in
      authentication.headers(of: object, in: headerNames, mapper, tape)
    } ?? true
  }

  /// The first result of `look` for the body and the envelopes around it, closest first, each
  /// followed by the headers that it stores as text.
  private mutating func first<Found>(
    around body: JSONNode, in layer: Layer, _ look: (JSONTape, JSONNode) -> Found?
  ) -> Found? {
    let around = envelopes[..<layer.depth].reversed().compactMap { $0 }
    for (tape, object) in [(layer.tape, body)] + around {
      if let found = look(tapes[tape], object) { return found }
      if let text = tapes[tape].textOfHeaders(of: object, in: headerNames),
        (try? headers.read(text, from: 0)) != nil, let found = look(headers, 0)
      {
        return found
      }
    }
    return nil
  }

  /// The outcome; for a line that no provider recognises, with the names of its members on `tape`.
  private func named(_ outcome: Outcome, by tape: Int) -> Outcome {
    guard case .unknown(var problem) = outcome, problem.isOfNames,
      let names = tapes[tape].memberNames
    else { return outcome }
    problem.detail += "; the line's members: " + names
    return .unknown(problem)
  }
}
