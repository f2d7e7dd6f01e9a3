import ArbiterProtocol
import Broker
import BusTesting
import Dispatch
import Synchronization
import System
import Testing

private final class Asker: SlowAsker {
    let uid: UInt32
    var isGone = false
    init(_ uid: UInt32) { self.uid = uid }
}

/// Questions whose work takes until the test lets it end, and their answers in their order.
private final class Desk {
    final class Gate: Sendable {
        private let state = Mutex((underWay: 0, most: 0))
        private let turn = DispatchSemaphore(value: 0)

        func pass(_ name: String) -> String {
            state.withLock { $0 = ($0.underWay + 1, max($0.most, $0.underWay + 1)) }
            turn.wait()
            state.withLock { $0.underWay -= 1 }
            return name
        }

        func letOneEnd() { turn.signal() }
        var mostUnderWay: Int { state.withLock { $0.most } }
    }

    let loop: EventLoop
    let gate = Gate()
    private(set) var questions: SlowQuestions!
    private(set) var prepared: [String] = []
    private(set) var answers: [String] = []
    var whenAnswered: (String) -> Void = { _ in }

    static let root: UInt32 = 0

    init(isTrusted: @escaping (UInt32) -> Bool = { $0 == Desk.root }) throws {
        loop = try EventLoop()
        questions = try SlowQuestions(on: loop, isTrusted: isTrusted)
    }

    deinit {
        // A thread that waits ends, too.
        gate.letOneEnd()
    }

    /// - Parameter fault: of its preparation.
    func ask(_ name: String, _ asker: Asker, fault: BrokerError? = nil) throws(BrokerError) {
        let gate = gate
        try questions.ask(asker) { [unowned self] () throws(BrokerError) in
            prepared.append(name)
            if let fault { throw fault }
            return { gate.pass(name) }
        } done: { [unowned self] (result: Result<String, BrokerError>) in
            switch result {
            case .success(let answer): answers.append(answer)
            case .failure(let error): answers.append("\(name): \(error.message)")
            }
            whenAnswered(name)
        }
    }

    func refused(_ name: String, _ asker: Asker, _ words: String, at place: SourceLocation = #_sourceLocation) {
        BrokerTests.refused(.limitExceeded, words, at: place) { try ask(name, asker) }
    }

    func answer(_ count: Int = 1) throws {
        for _ in 0..<count {
            let before = answers.count
            gate.letOneEnd()
            try loop.turn(until: { answers.count > before }, "an answer")
        }
    }
}

@Suite("Questions that take longer than a turn of the loop", .timeLimit(.minutes(10)))
struct SlowQuestionsTests {
    @Test(
        "A user has two of them, the one under way counted, whichever of its clients asks, and another when one is answered"
    )
    func ofUser() throws {
        let desk = try Desk()
        let (one, two) = (Asker(1000), Asker(1000))
        try desk.ask("under way", one)
        try desk.ask("waits", two)
        desk.refused("too many", one, "2 plans or explanations of user 1000")
        desk.refused("too many", two, "2 plans or explanations of user 1000")
        try desk.ask("another's", Asker(1001))
        try desk.answer()
        try desk.ask("again", one)
        desk.refused("too many", two, "2 plans or explanations of user 1000")
        try desk.answer(3)
        #expect(desk.answers == ["under way", "waits", "another's", "again"])
        try desk.ask("afterwards", two)
        try desk.ask("and one more", two)
        try desk.answer(2)
    }

    @Test("The last places are for trusted users, who have more of them each")
    func places() throws {
        let desk = try Desk()
        var user: UInt32 = 1000
        func next() -> Asker {
            user += 1
            return Asker(user)
        }
        try desk.ask("under way", next())
        let open = SlowQuestions.countMax - SlowQuestions.keptForTrusted
        for number in 0..<open { try desk.ask("\(number)", next()) }
        desk.refused("too many", next(), "\(open) plans or explanations are waiting")
        let root = Asker(Desk.root)
        for number in 0..<SlowQuestions.ofTrustedMax { try desk.ask("root's \(number)", root) }
        desk.refused("too many", root, "\(SlowQuestions.ofTrustedMax) plans or explanations of user 0")
        #expect(SlowQuestions.ofTrustedMax == SlowQuestions.keptForTrusted)
        // One of root's questions has been answered: its place is for root alone again.
        try desk.answer(open + 2)
        #expect(desk.answers.last == "root's 0")
        try desk.ask("root's again", root)
        for number in 0..<(open - SlowQuestions.ofTrustedMax + 1) { try desk.ask("\(number) again", next()) }
        desk.refused("too many", next(), "\(open) plans or explanations are waiting")
        while desk.questions.isBusy { try desk.answer() }
        #expect(desk.gate.mostUnderWay == 1)
    }

    @Test("There are never more of them than in all there may be, whoever asks")
    func inAll() throws {
        let desk = try Desk(isTrusted: { _ in true })
        try desk.ask("under way", Asker(1))
        for user in 0..<UInt32(SlowQuestions.countMax) { try desk.ask("\(user)", Asker(100 + user)) }
        desk.refused("too many", Asker(999), "\(SlowQuestions.countMax) plans or explanations are waiting")
        try desk.answer(SlowQuestions.countMax + 1)
        #expect(!desk.questions.isBusy)
    }

    @Test("A client that is gone is passed over, and what it left under way is waited for and keeps nobody out")
    func gone() throws {
        let desk = try Desk()
        let (left, also, stays) = (Asker(1000), Asker(1001), Asker(1002))
        try desk.ask("under way", left)
        try desk.ask("left behind", left)
        try desk.ask("left behind, too", also)
        try desk.ask("wanted", stays)
        left.isGone = true
        also.isGone = true
        #expect(desk.questions.isBusy)
        try desk.answer()
        #expect(desk.prepared == ["under way", "wanted"])
        try desk.answer()
        #expect(desk.answers == ["under way", "wanted"] && !desk.questions.isBusy)
        // None of its user's questions counts any more.
        try desk.ask("one", Asker(1000))
        try desk.ask("two", Asker(1000))
        try desk.answer(2)
    }

    @Test("A question that cannot be prepared is told why, and the next one has its turn")
    func cannotBePrepared() throws {
        let desk = try Desk()
        let denied = BrokerError(.accessDenied, "not for you")
        try desk.ask("at once", Asker(1000), fault: denied)
        #expect(desk.answers == ["at once: not for you"] && !desk.questions.isBusy)
        try desk.ask("under way", Asker(1000))
        try desk.ask("denied", Asker(1001), fault: denied)
        try desk.ask("denied, too", Asker(1002), fault: denied)
        try desk.ask("after it", Asker(1003))
        try desk.answer(1)
        #expect(
            desk.answers == ["at once: not for you", "under way", "denied: not for you", "denied, too: not for you"])
        try desk.answer(1)
        #expect(desk.answers.last == "after it" && !desk.questions.isBusy)
    }

    @Test("A question that is asked in the answer of another is answered, behind those that waited before")
    func nested() throws {
        let desk = try Desk()
        let asker = Asker(1000)
        desk.whenAnswered = { name in
            if name == "first" { #expect(throws: Never.self) { try desk.ask("of the answer", asker) } }
        }
        try desk.ask("first", asker)
        try desk.ask("second", asker)
        try desk.answer(3)
        #expect(desk.answers == ["first", "second", "of the answer"] && desk.gate.mostUnderWay == 1)
        desk.whenAnswered = { _ in }
    }
}
