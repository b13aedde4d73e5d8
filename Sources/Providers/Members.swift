import Domain
import Formats

/// The members of one kind of object that a reader uses, named like the cases.
protocol MemberField: CaseIterable, RawRepresentable where RawValue == Int {
  /// The member's names in the order of preference; providers rename between versions.
  var names: [String] { get }
  /// Names of members that are known but not read.
  static var unread: [String] { get }
  /// The table of all names, built once.
  static var table: MemberTable { get }
}

extension MemberField {
  var names: [String] { [camelCase] }
  static var unread: [String] { [] }

  /// The name of `productID` as `productId`.
  var camelCase: String { "\(self)".replacing("ID", with: "Id") }

  /// The name of `productID` as `product_id`.
  var snakeCase: String { camelCase.replacing("USD", with: "Usd").inSnakeCase }
}

/// The member names of one kind of object, built once: finding a table without collisions can take
/// longer than reading a file.
struct MemberTable: Sendable {
  let keys: KeyTable
  /// Where each field's names start in the table; a last element marks the end.
  let starts: [Int]
  /// The first name of each field.
  let names: [String]

  init<Field: MemberField>(_: Field.Type, own: [Int: [String]] = [:]) {
    let configured = Set(own.values.joined())
    var taken: Set<String> = []
    let names = Field.allCases.map { field in
      let known = field.names.filter { !configured.contains($0) }
      return ((own[field.rawValue] ?? []) + known).filter { taken.insert($0).inserted }
    }
    keys = KeyTable(names.flatMap { $0 } + Field.unread)
    starts = names.reduce(into: [0]) { $0.append(($0.last ?? 0) + $1.count) }
    self.names = names.map { $0.first ?? "" }
  }
}

/// The names of an object's fields in messages: a path such as `transaction.`, and the first names.
final class MemberNames {
  let path: String
  let texts: [String]

  init(_ path: String, _ texts: [String]) { (self.path, self.texts) = (path, texts) }
}

/// The value of a field, absent or not, with its name for messages.
struct MemberValue {
  /// Nil when absent or null.
  var node: JSONNode?
  let field: Int
  /// The names of the `Members` that returned the value, which outlive it.
  unowned(unsafe) let names: MemberNames

  /// The name in messages.
  var name: String { names.path + names.texts[field] }
}

/// Members of one object by field, found in one pass; reused for each object.
struct Members<Field: MemberField> {
  private let table: MemberTable
  private var slots: [JSONNode]
  private let names: MemberNames
  /// The number of unknown members in the object read last.
  private(set) var unknown = 0

  /// Members of objects at `path`, which is empty for a body or ends in a dot; configured names in
  /// `own` come before the field's names and are not used for other fields.
  init(_ path: String = "", own: [Field.RawValue: [String]] = [:]) {
    let isUsual = own.values.allSatisfy(\.isEmpty)
    table = isUsual ? Field.table : MemberTable(Field.self, own: own)
    slots = Array(repeating: -1, count: (table.starts.last ?? 0) + Field.unread.count)
    names = MemberNames(path, table.names)
  }

  mutating func read(_ object: JSONNode, of tape: JSONTape) {
    unknown = tape.fields(of: object, table.keys, into: &slots)
  }

  /// Notes the names of unknown members; `object` must be the one read last.
  func noteUnknown(
    in object: JSONNode?, of tape: JSONTape, _ delivery: Delivery, to batch: inout EventBatch
  ) {
    guard unknown > 0, let object, tape.kind(object) == .object else { return }
    for key in unknownKeys(of: object, of: tape) where !isReadHeader(tape.bytes(key)) {
      batch.noteUnknown(.member, tape.bytes(key), of: delivery)
    }
  }

  /// The unknown keys of `object`, which must be the one read last.
  func unknownKeys(of object: JSONNode, of tape: JSONTape) -> [JSONNode] {
    guard unknown > 0 else { return [] }
    return tape.children(of: object).filter { table.keys.index(of: tape.bytes($0)) == nil }
  }

  /// The field's value under the first name that has one, with its name for messages.
  @inline(__always)
  subscript(field: Field) -> MemberValue {
    MemberValue(node: value(field), field: field.rawValue, names: names)
  }

  /// The field's value under the first name that has one; nil when absent or null.
  @inline(__always)
  func value(_ field: Field) -> JSONNode? {
    let first = slots[table.starts[field.rawValue]]
    return first >= 0 ? first : all(field).first { $0 >= 0 }
  }

  /// The field's values, in the order of its names.
  func values(_ field: Field) -> [JSONNode] { all(field).filter { $0 >= 0 } }

  /// The first of the field's values that is a receive time.
  func receiveTime(_ field: Field, of tape: JSONTape) -> Instant? {
    for node in all(field) where node >= 0 {
      if let time = tape.receiveTime(node) { return time }
    }
    return nil
  }

  /// The field's value, including null; nil when absent.
  func present(_ field: Field) -> JSONNode? {
    all(field).first { $0 != -1 }.map { $0 < 0 ? ~$0 : $0 }
  }

  private func all(_ field: Field) -> ArraySlice<JSONNode> {
    slots[table.starts[field.rawValue]..<table.starts[field.rawValue + 1]]
  }
}
