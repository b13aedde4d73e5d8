import Domain

/// What is known of a body from around it.
struct Delivery {
  var place: Provenance
  /// When the archive's endpoint received it, as far as the envelope says.
  var received: Instant?
  /// The request header `X-App-Id`, which points into the line; empty when none was kept.
  var app = UnsafeRawBufferPointer.none
}
