import ArbiterProtocol
import Broker
import Testing

@Suite("Who says how hard the machine is pressed")
struct PressureWordsTests {
    @Test("The harder of a shell's word and the machine's counts, and nobody's denies the other's")
    func harder() {
        var words = PressureWords()
        #expect(words.level == .nominal)
        words.said = .fair
        #expect(words.level == .fair)
        words.measured = .serious
        #expect(words.level == .serious)
        words.said = .critical
        #expect(words.level == .critical)
        words.said = .nominal
        #expect(words.level == .serious)
        words.measured = nil
        #expect(words.level == .nominal)
    }
}
