/// A binary heap: adding a value, and removing or replacing the first one, takes logarithmic time.
///
/// Inlinable, so that a module that merges many rows gets a version specialised for its elements.
public struct Heap<Element> {
  @usableFromInline var elements: [Element] = []
  @usableFromInline let precedes: (Element, Element) -> Bool

  /// An empty heap in the order of `precedes`.
  @inlinable public init(by precedes: @escaping (Element, Element) -> Bool) {
    self.precedes = precedes
  }

  /// The first value; nil when there is none.
  @inlinable public var first: Element? { elements.first }

  /// Adds a value.
  @inlinable public mutating func add(_ element: Element) {
    elements.append(element)
    var index = elements.count - 1
    while index > 0, precedes(elements[index], elements[(index - 1) / 2]) {
      elements.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  /// Removes and returns the first value; nil when empty.
  @inlinable public mutating func removeFirst() -> Element? {
    guard let first = elements.first, let last = elements.popLast() else { return nil }
    if !elements.isEmpty { replaceFirst(by: last) }
    return first
  }

  /// Replaces the first value, which must exist.
  @inlinable public mutating func replaceFirst(by element: Element) {
    elements[0] = element
    var index = 0
    while true {
      var next = 2 * index + 1
      guard next < elements.count else { return }
      if next + 1 < elements.count, precedes(elements[next + 1], elements[next]) { next += 1 }
      guard precedes(elements[next], elements[index]) else { return }
      elements.swapAt(index, next)
      index = next
    }
  }
}

extension Range<Int> {
  /// The first number for which `isInSecondPart` holds, as it must for all later ones; the upper
  /// bound when there is none.
  @inlinable public func partitioningIndex(where isInSecondPart: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = (low + high) / 2
      if isInSecondPart(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
