import CLinux
import Glibc
import System

/// A keeper process (`Sources/Programs/camkeeper`), and what it owes an answer to.
///
///     idle ──job──▶ busy ──all answered──▶ idle
///                    └──no answer in time──▶ stuck ──it has ended after all──▶ gone
///
/// A keeper that is stuck got SIGKILL and is not waited for: it may hang where no signal reaches it, and ends when whoever
/// keeps it there lets it. Its socket is kept as long: what is put in there has its last reference in that process.
final class DescriptorKeeper {
    /// How long a keeper may take for one job, in nanoseconds: ten thousand times what it takes. Its user alone waits.
    static let answerTimeMax: Int64 = 1_000_000_000
    private let answerTimeMax: Int64

    enum State: Hashable { case working, stuck, gone }

    enum Taking {
        case taken(trouble: Int, [PassedDescriptor], brought: Int)
        case lost
    }

    private struct Owed {
        var user: UInt32
        var since: Int64
        var isTake: Bool
        var taking: ((Taking) -> Void)?
    }

    private(set) weak var pool: DescriptorKeepers?
    private(set) var state = State.working
    /// The user for whom the job was that it did not come back from.
    private(set) var stuckFor: UInt32?
    private let socket: Int32
    private var child: ChildProcess?
    private var source: IOSource?
    private var alarm: Timer?
    private var owed: [Owed] = []

    var isIdle: Bool { state == .working && owed.isEmpty }
    func serves(only user: UInt32) -> Bool { state == .working && owed.allSatisfy { $0.user == user } }

    init(_ program: String, _ pool: DescriptorKeepers, on loop: EventLoop) throws(SystemFault) {
        self.pool = pool
        answerTimeMax = pool.answerTimeMax
        var ours: Int32 = -1
        var its: Int32 = -1
        try check(camarb_packet_pair(&ours, &its), "make a socket for a keeper")
        socket = ours
        defer { close(its) }
        do throws(SystemFault) {
            source = try loop.addIO(ours, .readable) { [unowned self] _ in read() }
            alarm = try loop.addTimer { [unowned self] in alarmRang() }
            child = try ChildProcess(path: program, arguments: [], passing: its, on: loop) { [unowned self] _ in ended()
            }
        } catch {
            source?.cancel()
            throw error
        }
    }

    deinit {
        source?.cancel()
        close(socket)
    }

    /// Orders this keeper to read bytes from a client's socket. The socket stays the caller's.
    /// - Returns: false when the keeper's process has ended and read nothing: another keeper has to do it.
    func take(
        _ bytes: Int, isBeginning: Bool, from client: Int32, user: UInt32, _ taking: @escaping (Taking) -> Void
    ) -> Bool {
        let job = camarb_keeper_job(
            kind: UInt32(camarb_keeper_take), bytes: UInt32(bytes), is_beginning: isBeginning ? 1 : 0, unused: 0,
            cookie: 0)
        return give(job, client, user, taking)
    }

    /// Gives it a copy of a socket, which stays the caller's to close first. One that is stuck closes it when it ends.
    func dispose(of client: Int32, user: UInt32) -> Bool {
        let job = camarb_keeper_job(kind: UInt32(camarb_keeper_close), bytes: 0, is_beginning: 0, unused: 0, cookie: 0)
        if state == .working { return give(job, client, user, nil) }
        return state == .stuck && send(job, client) >= 0
    }

    func letGo(_ cookie: UInt64, user: UInt32) {
        guard state == .working else { return }
        let job = camarb_keeper_job(
            kind: UInt32(camarb_keeper_let_go), bytes: 0, is_beginning: 0, unused: 0, cookie: cookie)
        _ = give(job, -1, user, nil)
    }

    private func give(_ job: camarb_keeper_job, _ client: Int32, _ user: UInt32, _ taking: ((Taking) -> Void)?) -> Bool
    {
        // It has ended; or it takes nothing any more, and its alarm is set.
        guard send(job, client) >= 0 else { return false }
        owed.append(Owed(user: user, since: EventLoop.now, isTake: taking != nil, taking: taking))
        if owed.count == 1 { arm() }
        return true
    }

    private func send(_ job: camarb_keeper_job, _ client: Int32) -> Int32 {
        withUnsafeBytes(of: job) { camarb_packet_send(socket, $0.baseAddress, $0.count, client) }
    }

    private func read() {
        while state != .gone {
            var answer = camarb_keeper_answer()
            var envelopes = [Int32](repeating: -1, count: Int(camarb_keeper_descriptors_max))
            var count = 0
            let length = withUnsafeMutableBytes(of: &answer) {
                camarb_receive_passed(socket, $0.baseAddress, $0.count, &envelopes, envelopes.count, &count)
            }
            if length == -Int(EAGAIN) { return }
            guard length == MemoryLayout<camarb_keeper_answer>.size else {
                // Its end, which its process's end is told by.
                source?.cancel()
                source = nil
                return
            }
            heard(answer, Array(envelopes.prefix(count)))
        }
    }

    private func heard(_ answer: camarb_keeper_answer, _ envelopes: [Int32]) {
        guard let user = owed.first?.user else {
            for envelope in envelopes { close(envelope) }
            return
        }
        if answer.kind == UInt32(camarb_keeper_taken) {
            let found = withUnsafeBytes(of: answer.found) { Array($0.bindMemory(to: camarb_keeper_found.self)) }
            let passed = zip(found, envelopes).map { PassedDescriptor($0, envelope: $1, user: user, keeper: self) }
            let taking = owed[0].taking
            owed[0].taking = nil
            taking?(.taken(trouble: Int(answer.trouble), passed, brought: Int(answer.brought)))
        } else {
            let done = owed.removeFirst()
            if state == .working { arm() }
            pool?.finished(self, user, isTake: done.isTake)
        }
    }

    /// One alarm that comes too early is cheaper than setting one for each job.
    private func arm() {
        guard let first = owed.first else { return }
        let due = first.since + answerTimeMax
        if let armed = alarm?.deadline, armed <= due { return }
        alarm?.arm(at: due)
    }

    private func alarmRang() {
        guard state == .working, let first = owed.first else { return }
        // Its answer may be there already: this process may have been the slow one.
        read()
        guard state == .working, let now = owed.first, now.since == first.since,
            EventLoop.now >= now.since + answerTimeMax
        else { return arm() }
        giveUp(first.user)
    }

    private func giveUp(_ user: UInt32) {
        state = .stuck
        stuckFor = user
        child?.signal(SIGKILL)
        pool?.isStuck(self, user)
        failAll()
    }

    private func ended() {
        state = .gone
        source?.cancel()
        source = nil
        failAll()
        pool?.isGone(self)
    }

    private func failAll() {
        let lost = owed
        owed = []
        for job in lost {
            job.taking?(.lost)
            pool?.finished(self, job.user, isTake: job.isTake)
        }
    }
}
