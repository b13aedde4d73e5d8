import Foundation
import Yams

// What the values of a configuration file are made of: texts, whole numbers, true and false, lists
// and mappings. Everything else stays the text that was written.

extension Resolver {
  /// Without dates and fractions: a date is the start of a day in the reports' time zone, and a
  /// share is exact.
  static let settings = Resolver.default.removing(.timestamp).removing(.float)
}

extension Constructor {
  /// Without what a tag such as `!!set` or `!!binary` would make of a value.
  static var settings: Constructor {
    Constructor(
      [
        .str: String.construct, .bool: Bool.construct, .null: NSNull.construct, .int: wholeNumber,
      ],
      [.map: [AnyHashable: Any].construct_mapping], [.seq: [Any].construct_seq])
  }

  /// A number as people write it.
  ///
  /// YAML 1.1 also takes `1:30` for a number of base 60, at which the library traps when it is too
  /// great, and `0123` for one of base 8, which is the id of a product here.
  private static func wholeNumber(_ scalar: Node.Scalar) -> Int? {
    let digits = scalar.string.utf8.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
    let isOctal = digits.count > 1 && digits.first == UInt8(ascii: "0")
    return isOctal || digits.contains(UInt8(ascii: ":")) ? nil : Int.construct(from: scalar)
  }
}
