import Formats
import Domain

/// What became of one value.
enum Outcome {
  /// A provider took it: events came of it, or it is known to bring none.
  case handled(SkipReason?)
  /// A provider recognised it and refused it.
  case refused(BodyProblem)
  /// No provider recognised it.
  case unknown(BodyProblem)
  /// There was nothing in it.
  case empty

  /// Whether some provider answered.
  var isFinal: Bool {
    switch self {
    case .handled, .refused: true
    case .unknown, .empty: false
    }
  }
}

/// Finds the body in a line, through at most three layers of envelopes, and has it normalised.
struct Unwrapping {
  /// Envelopes around one body.
  private static let layersMax = 3
  private var providers: Providers
  private let authentication: Authentication
  private var members = Members<EnvelopeField>()
  /// The line's tape, then one for each text inside it.
  private var tapes: [JSONTape]
  /// Headers that a table holds as text.
  private var headers = JSONTape()
  /// The envelopes around the current value, the outermost first, one for each depth.
  private var envelopes: [(tape: Int, object: JSONNode)?]

  init(rules: NormaliserSettings) {
    providers = Providers(rules)
    authentication = Authentication(rules)
    tapes = (0...Self.layersMax).map { _ in JSONTape() }
    envelopes = Array(repeating: nil, count: Self.layersMax)
  }

  /// Reads the value at `start` and returns where it ends.
  mutating func read(
    _ bytes: UnsafeRawBufferPointer, from start: Int
  ) throws(JSONProblem) -> Int {
    try tapes[0].read(bytes, from: start)
  }

  /// Brings the events of the value read last into `batch`.
  mutating func unwrap(at place: Provenance, to batch: inout EventBatch) -> Outcome {
    // A text counts as an envelope without fields.
    envelopes[0] = nil
    return open(Layer(place: place), 0, to: &batch)
  }

  /// How deep inside the line something lies.
  private struct Layer {
    var place: Provenance
    /// The tape that holds it.
    var tape = 0
    /// Envelopes around it.
    var depth = 0
    /// The receive time in the outermost envelope that contains one.
    var received: Instant?
  }

  private mutating func open(
    _ layer: Layer, _ node: JSONNode, to batch: inout EventBatch
  ) -> Outcome {
    let tape = tapes[layer.tape]
    switch tape.kind(node) {
    case .object where tape.count(node) == 0: return .empty
    case .object: return openObject(layer, node, on: tape, to: &batch)
    case .string: return openText(layer, tape.bytes(node), to: &batch)
    case .null where layer.depth > 0: return .empty
    default: return .unknown(BodyProblem(.notAnObject, "the value is not a JSON object"))
    }
  }

  private mutating func openObject(
    _ layer: Layer, _ object: JSONNode, on tape: JSONTape, to batch: inout EventBatch
  ) -> Outcome {
    if let mapper = providers.mapper(of: object, on: tape) {
      return normalise(layer, object, on: tape, by: mapper, to: &batch)
    }
    var failure: Outcome?
    var isBare = false
    if layer.depth < Self.layersMax {
      let envelope = Envelope(object, of: tape, &members)
      isBare = envelope.isBare
      envelopes[layer.depth] = (layer.tape, object)
      var inner = layer
      inner.depth += 1
      inner.received = layer.received ?? envelope.received
      for content in envelope.contents {
        let outcome = open(inner, content, to: &batch)
        if outcome.isFinal { return outcome }
        failure = Self.first(failure, outcome)
      }
      if case .empty = failure, envelope.isTooLarge {
        failure = .unknown(
          BodyProblem(.missingField, "body: the sender left it out because it was too large"))
      }
    }
    if let mapper = providers.mapper(ofDamaged: object, on: tape) {
      return normalise(layer, object, on: tape, by: mapper, to: &batch)
    }
    if Self.isErrorResponse(object, on: tape) { return .unknown(.errorResponse) }
    return failure ?? (isBare ? .empty : .unknown(.unknownBody))
  }

  /// Text inside a line: JSON once more, or base64 of it.
  private mutating func openText(
    _ layer: Layer, _ text: UnsafeRawBufferPointer, to batch: inout EventBatch
  ) -> Outcome {
    let text = text.withoutByteOrderMark
    guard let first = text.first(where: { !Self.isSpace($0) }) else { return .empty }
    guard layer.tape < Self.layersMax else {
      return .unknown(.unknownBody)
    }
    if Self.beginsJSON(first) { return parse(layer, text, to: &batch) }
    // No base64 begins like that, so the envelope's own flag need not be asked.
    var decoded: [UInt8] = []
    guard Base64Text.decode(text, into: &decoded),
      let start = decoded.first(where: { !Self.isSpace($0) }), Self.beginsJSON(start)
    else { return .unknown(.textNotJSON) }
    return decoded.withUnsafeBytes { parse(layer, $0, to: &batch) }
  }

  private mutating func parse(
    _ layer: Layer, _ text: UnsafeRawBufferPointer, to batch: inout EventBatch
  ) -> Outcome {
    var inner = layer
    inner.tape += 1
    inner.depth = max(layer.depth, 1)
    do throws(JSONProblem) {
      let end = try tapes[inner.tape].read(text, from: 0)
      guard text[end...].allSatisfy(Self.isSpace) else { return .unknown(.textNotJSON) }
    } catch {
      return .unknown(
        BodyProblem(.notJSON, "the text in the envelope: \(error.reason) at byte \(error.offset)"))
    }
    return open(inner, 0, to: &batch)
  }

  private mutating func normalise(
    _ layer: Layer, _ object: JSONNode, on tape: JSONTape, by index: Int,
    to batch: inout EventBatch
  ) -> Outcome {
    let mapper = Providers.all[index]
    guard isAuthentic(object, of: mapper, in: layer) else {
      return .refused(.unauthenticated(mapper))
    }
    var delivery = Delivery(place: layer.place, received: layer.received)
    if let name = mapper.appHeader { delivery.app = header(name, of: object, in: layer) }
    let eventsBefore = batch.events.count
    do throws(BodyProblem) {
      let reason = try providers.normalise(
        object, by: index, on: tape, delivery, to: &batch)
      guard reason != nil || batch.events.count > eventsBefore else {
        return .refused(.withoutUser)
      }
      return .handled(reason)
    } catch {
      return .refused(error)
    }
  }

  /// The text of the header nearest to the body.
  private mutating func header(
    _ name: StaticString, of object: JSONNode, in layer: Layer
  ) -> UnsafeRawBufferPointer {
    var text = UnsafeRawBufferPointer.none
    search(around: object, in: layer) { tape, object in
      text = tape.header(name, of: object)
      return !text.isEmpty
    }
    return text
  }

  /// Whether the delivery carries a secret of its provider, or none at all, where archives keep
  /// none; the secret nearest to the body decides.
  private mutating func isAuthentic(
    _ object: JSONNode, of mapper: any BodyMapper.Type, in layer: Layer
  ) -> Bool {
    guard authentication.judges(mapper) else { return true }
    var match = authentication.member(of: object, mapper, tapes[layer.tape])
    if case .absent = match {
      let authentication = authentication
      search(around: object, in: layer) { tape, object in
        match = authentication.headers(of: object, mapper, tape)
        if case .absent = match { return false }
        return true
      }
    }
    if case .differing = match { return false }
    return true
  }

  /// Shows `look` the body and the envelopes around it, the nearest first, each with the headers
  /// that it holds as text, until it answers true.
  private mutating func search(
    around body: JSONNode, in layer: Layer, _ look: (JSONTape, JSONNode) -> Bool
  ) {
    let around = envelopes[..<layer.depth].reversed().compactMap { $0 }
    for (tape, object) in [(layer.tape, body)] + around {
      if look(tapes[tape], object) { return }
      if let text = tapes[tape].textOfHeaders(of: object),
        (try? headers.read(text, from: 0)) != nil, look(headers, 0)
      {
        return
      }
    }
  }

  /// The failure to report: the first that is not about an empty value.
  private static func first(_ known: Outcome?, _ new: Outcome) -> Outcome {
    if let known, case .unknown = known { return known }
    return new
  }

  /// Whether `object` is what a provider's interface answers when a request fails.
  ///
  /// Sources: iaptic-client, `{"ok":false,"status","code","message"}`; IAPGUARD, Error codes,
  /// `{"code","error"}`.
  private static func isErrorResponse(_ object: JSONNode, on tape: JSONTape) -> Bool {
    func kind(_ name: StaticString) -> JSONKind {
      tape.member(object, name).map(tape.kind) ?? .null
    }
    return kind("ok") == .false || kind("code") != .null && kind("error") != .null
  }

  /// Whether a text that begins with `byte` can be an object, or text inside text.
  private static func beginsJSON(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "{") || byte == UInt8(ascii: "\"")
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
  }
}

extension BodyProblem {
  /// A body of no provider.
  static let unknownBody = BodyProblem(.unknownProvider, "no provider recognises this body")

  /// A body that is whole, and from which nothing follows for anybody.
  static let withoutUser = BodyProblem(
    .missingField, "the body contains neither a purchase nor a user")

  /// What a provider's interface answers when a request fails; no webhook.
  static let errorResponse = BodyProblem(
    .errorResponse, "the line is an error that a provider's API returned")

  /// An envelope whose content is some other text.
  static let textNotJSON = BodyProblem(.notJSON, "the text in the envelope is not a JSON object")
}
