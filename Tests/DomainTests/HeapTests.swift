import Domain
import Testing

@Suite("A heap returns its values in order")
struct HeapTests {
  @Test("Values come out in order, including equal ones and ones added in between")
  func order() {
    var heap = Heap<Int>(by: <)
    for value in [5, 1, 4, 1, 3] { heap.add(value) }
    #expect(heap.first == 1)
    #expect([heap.removeFirst(), heap.removeFirst(), heap.removeFirst()] == [1, 1, 3])
    heap.add(2)
    heap.add(9)
    #expect((0..<5).map { _ in heap.removeFirst() } == [2, 4, 5, 9, nil])
    #expect(heap.first == nil)
  }

  @Test("The first value can be replaced by a later or an earlier one")
  func replacing() {
    var heap = Heap<Int>(by: >)
    for value in [1, 2, 3] { heap.add(value) }
    heap.replaceFirst(by: 0)
    #expect(heap.first == 2)
    heap.replaceFirst(by: 7)
    #expect((0..<3).map { _ in heap.removeFirst() } == [7, 1, 0])
  }
}
