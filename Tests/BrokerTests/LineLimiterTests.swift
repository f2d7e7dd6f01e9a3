import Broker
import Testing

@Suite struct LineLimiterTests {
    private let second: Int64 = 1_000_000_000

    private func limiter() -> LineLimiter {
        LineLimiter(ofUser: .init(burst: 4, perSecond: 1), inAll: .init(burst: 6, perSecond: 2))
    }

    @Test("A user's flood is four lines, and then one a second that tells of the others")
    func flood() {
        var limiter = limiter()
        let first = (0..<1000).map { _ in limiter.admit(1000, at: 0) }
        let four: [Int?] = [0, 0, 0, 0]
        #expect(first == four + Array(repeating: nil, count: 996))
        #expect(limiter.admit(1000, at: second) == 996)
        #expect(limiter.admit(1000, at: second) == nil)
        // However long no line was written, no more than a burst is.
        let later = (0..<10).count { _ in limiter.admit(1000, at: .max / 2) != nil }
        #expect(later == 4)
    }

    @Test("Another user's lines are written beside a flood, as long as there is something left for all")
    func others() {
        var limiter = limiter()
        for _ in 0..<100 { _ = limiter.admit(1000, at: 0) }
        #expect(limiter.admit(1001, at: 0) == 0)
        #expect(limiter.admit(nil, at: 0) == 0)
        // Six were written: no user has more before half a second is over.
        #expect(limiter.admit(1002, at: 0) == nil)
        #expect(limiter.admit(1002, at: second / 2) == 1)
    }

    @Test("A flood that changes its user all the time does not grow the table")
    func manyUsers() {
        var limiter = limiter()
        var written = 0
        for user in 0..<100_000 where limiter.admit(UInt32(user), at: Int64(user)) != nil { written += 1 }
        #expect(written == 6)
        #expect(limiter.accountsCount <= LineLimiter.usersMax + 1)
        // A minute later every credit is whole; the report forgets the users.
        _ = limiter.takeSkipped(at: 60 * second)
        #expect(limiter.accountsCount == 0)
    }
}
