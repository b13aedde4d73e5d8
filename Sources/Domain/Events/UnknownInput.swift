/// A name in a provider's bodies whose meaning is unknown.
public struct UnknownName: Codable, Sendable, Hashable {
  /// The kind of thing that has the name; raw values are those of `unknown_input.csv`.
  public enum Subject: String, CaseIterable, Codable, Sendable {
    /// What happened.
    case eventName = "event_name"
    /// A member of an object.
    case member
    /// The platform of a purchase.
    case platform
    /// The store of a purchase.
    case store
  }

  /// The sender.
  public var provider: Provider
  /// The kind of thing that has the name.
  public var subject: Subject
  /// The name, as far as it may be shown.
  public var name: String

  /// The name of `subject` in a body of `provider`, shown only where it cannot be an id or a
  /// secret.
  ///
  /// Shown names have at most 48 letters, digits, spaces and marks, and at most 4 digits. Tokens
  /// mix digits and letters, so a member with a letter directly after a digit is withheld.
  public init(_ provider: Provider, _ subject: Subject, _ bytes: UnsafeRawBufferPointer) {
    self.provider = provider
    self.subject = subject
    name = Self.shown(bytes, isMember: subject == .member)
  }

  /// The name, as far as it may be shown.
  public static func shown(_ bytes: UnsafeRawBufferPointer, isMember: Bool) -> String {
    let text = String(decoding: bytes.prefix(200), as: UTF8.self)
    let isName = text.unicodeScalars.allSatisfy { scalar in
      scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        || " _-.$".unicodeScalars.contains(scalar)
    }
    let digits = text.unicodeScalars.map { ("0"..."9").contains($0) }
    let isMixed = zip(digits, text.unicodeScalars.dropFirst()).contains { isDigit, next in
      isDigit && next.properties.isAlphabetic
    }
    let isSafe = isName && digits.count(where: \.self) <= 4 && text.count <= 48
    return isSafe && !(isMember && isMixed) ? text : withheld
  }

  /// The text shown instead of a name that may be an id or a secret.
  public static let withheld = "(withheld)"
}

/// The unknown names in a range of one archive, with the number of lines that contain each.
public struct UnknownInput: Codable, Sendable {
  /// The lines with a name.
  public struct Lines: Codable, Sendable, Equatable {
    /// The number of lines, each counted once.
    public var count: Int64
    /// The first line, from 1.
    public var first: Int64
    /// The last value that contained the name.
    var value: Int64
  }

  /// The lines by name.
  public private(set) var lines: [UnknownName: Lines] = [:]
  /// Names by fingerprint.
  private var names: [Int64: UnknownName] = [:]
  private let namesMax: Int

  private enum CodingKeys: CodingKey { case lines, namesMax }

  /// An empty collection that keeps at most `namesMax` names apart.
  public init(namesMax: Int = 1_000) { self.namesMax = namesMax }

  /// Approximate memory in bytes.
  public var size: Int { lines.count * 160 + names.count * 64 }

  /// Adds a name found in the value number `value` on `line`.
  public mutating func add(
    _ provider: Provider, _ subject: UnknownName.Subject, _ bytes: UnsafeRawBufferPointer,
    value: Int64, line: Int64
  ) {
    var key = Fingerprint()
    key.combine(subject.rawValue)
    key.combine(UInt64(provider.rawValue))
    key.combine(bytes)
    let name = names[key.value] ?? UnknownName(provider, subject, bytes)
    if names.count < 2 * namesMax { names[key.value] = name }
    add(name, Lines(count: 1, first: line, value: value))
  }

  /// Adds the names of the range after this one.
  public mutating func add(_ next: UnknownInput) {
    let ordered = next.lines.sorted { left, right in
      (left.value.first, left.key.subject.rawValue, left.key.name)
        < (right.value.first, right.key.subject.rawValue, right.key.name)
    }
    for (name, lines) in ordered {
      add(name, Lines(count: lines.count, first: lines.first, value: -1))
    }
  }

  private mutating func add(_ name: UnknownName, _ more: Lines) {
    var name = name
    // All further names of this kind share an entry.
    if lines[name] == nil, lines.count >= namesMax { name.name = "(more)" }
    guard let known = lines[name] else {
      lines[name] = more
      return
    }
    guard known.value != more.value || more.value < 0 else { return }
    lines[name] = Lines(count: known.count + more.count, first: known.first, value: more.value)
  }
}
