import System

/// How much of the heap has become free since it was last given back to the machine, about. glibc keeps freed memory
/// for the next allocation; a flood's would be kept for good. Giving back looks through the whole heap, some
/// milliseconds for a hundred megabytes, and so happens when it is worth it, and seldom.
struct FreedMemory {
    /// Below this nobody would notice. In bytes.
    static let worthwhileBytes = 4 << 20
    /// Between a large release and giving back, in nanoseconds: a user's connections end one by one when it leaves.
    static let delay: Int64 = 500_000_000
    /// Between two times, in nanoseconds: a client that takes and releases in a loop costs a thousandth of the broker's time.
    static let pause: Int64 = 5_000_000_000

    var timer: Timer?
    private var bytes = 0
    private var lastTime: Int64 = 0

    /// - Returns: whether it is worth giving back now.
    mutating func note(_ resource: Budgets.Resource, _ amount: Int, at now: Int64) -> Bool {
        bytes += amount * Self.bytesOfOne(resource)
        return bytes >= Self.worthwhileBytes && timer?.deadline == nil
    }

    func nextTime(at now: Int64) -> Int64 { max(now + Self.delay, lastTime + Self.pause) }

    mutating func wasGivenBack(at now: Int64) {
        bytes = 0
        lastTime = now
    }

    /// About what one of it takes, as measured with clients that use it as far as they may.
    private static func bytesOfOne(_ resource: Budgets.Resource) -> Int {
        switch resource {
        case .connections: 16 << 10
        case .sessions: 12 << 10
        case .placedApps: 3 << 10
        case .microphones: 1 << 10
        case .questions: 16 << 10
        case .answers: 700
        }
    }
}
