import Testing
import Domain

@Test("Texts that only look alike are different")
func exactTexts() {
  let alike = ["caf\u{e9}", "cafe\u{301}", "caf\u{65}\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}"]
  #expect(Set(alike).count == 2)
  #expect(Set(alike.map(ExactText.init)).count == 5)
  for left in alike {
    for right in alike {
      let isSame = Array(left.utf8) == Array(right.utf8)
      #expect(left.isExactly(right) == isSame)
      #expect((ExactText(left) == ExactText(right)) == isSame)
      let precedes = left.utf8.lexicographicallyPrecedes(right.utf8)
      #expect((ExactText(left) < ExactText(right)) == precedes)
    }
  }
}
