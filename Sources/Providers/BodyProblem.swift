import Domain

/// Why a value was rejected; the words stay the same from version to version.
enum RejectReason: String, CaseIterable {
  case notJSON = "not_json"
  case valueTooLong = "value_too_long"
  case notAnObject = "not_an_object"
  case unknownProvider = "unknown_provider"
  case missingField = "missing_field"
  case badField = "bad_field"
  case amountTooLarge = "amount_too_large"
  case badTime = "bad_time"
  case impossibleTime = "impossible_time"
  case errorResponse = "error_response"
  case incompleteList = "incomplete_list"
  case unauthenticated
}

/// Values that are known not to be purchase events.
enum SkipReason: String, CaseIterable {
  case registrationProbe = "registration_probe"
  case trialStillActive = "trial_still_active"
  case test
  /// A user without purchases, at an unknown time.
  case undatedCollection = "undated_collection"
  /// An undocumented type without anything to keep.
  case unknownType = "unknown_type"
  case accountAssignmentsChanged = "account_assignments_changed"
}

enum Meaning {
  case event(EventKind)
  case skipped(SkipReason)
}

/// The reason for skipping a user's empty collection without a date.
public let undatedCollection = SkipReason.undatedCollection.rawValue

/// The reason for rejecting a line whose secret is not one of its provider's.
public let unauthenticated = RejectReason.unauthenticated.rawValue

/// The defect of a body, without any of its values.
struct BodyProblem: Error {
  var reason: RejectReason
  var detail: String
  /// Whether the text begins like a body and ends inside it.
  var isCut = false

  init(_ reason: RejectReason, _ detail: String) {
    self.reason = reason
    self.detail = detail
  }

  static func missing(_ field: String) -> BodyProblem { BodyProblem(.missingField, field) }

  static func bad(_ field: String, expected: String) -> BodyProblem {
    BodyProblem(.badField, "\(field): expected \(expected)")
  }

  static func longText(_ field: String) -> BodyProblem {
    BodyProblem(.badField, "\(field): longer than \(NormaliserSettings.wordBytesMax) bytes")
  }
}
