import CLinux
import Glibc
public import System

/// Has the descriptors of clients taken, looked at and closed by processes of their own, since that may hang for as long
/// as whoever serves a file likes, and no signal ends it.
///
/// Each user has one message at a keeper at a time, so that a user that hangs one waits for itself. A keeper that is
/// not back in time is given up, and its user's descriptors are refused until it is back after all.
///
/// Lives on the loop's thread. It never waits.
public final class DescriptorKeepers {
    /// Keepers that can be at work, for as many users, at once; further users wait for one to be free. They stay.
    public static let workingMax = 8
    /// Keepers that hang. Each is a small process (0.3 MiB), and takes one user to make; beyond them only root's
    /// descriptors are taken, until one is back.
    public static let stuckMax = 32
    /// Descriptors of one user that have been taken and were not let go of yet: as many as photos may wait for a frame.
    public static let ofUserMax = 16
    /// Descriptors in all, three numbers each in this process while a message is read. Of what the others have left, a user
    /// gets at most half: so that many users do not keep the next one out.
    public static let inAllMax = 128

    public enum Answer {
        case taken([PassedDescriptor])
        /// The message brought so many, which is more than one may: all of them are closed. Its bytes are taken.
        case tooMany(Int)
        /// The bytes are lost, and with them the connection; a sentence for the journal.
        case refused(String)
    }

    private struct Wish {
        var bytes: Int
        var isBeginning: Bool
        var socket: Int32
        var user: UInt32
        var answer: (Answer) -> Void
    }

    private let program: String
    /// `DescriptorKeeper.answerTimeMax`, as often as it is patient.
    let answerTimeMax: Int64
    private let loop: EventLoop
    private let note: (String) -> Void
    private var keepers: [DescriptorKeeper] = []
    private var stuck: [DescriptorKeeper] = []
    /// Ended keepers, until their process has been reaped.
    private var ending: [DescriptorKeeper] = []
    /// At most one a connection. Each is served in its order: what its user has on the way ends within seconds, by the
    /// bounds on half-read messages and on a recorder core's answers.
    private var wishes: [Wish] = []
    private var atWork: Set<UInt32> = []
    private var onTheirWay: [UInt32: Int] = [:]
    private var inAll = 0
    /// Sockets that no keeper could take: more than two hundred for each that hangs.
    private var unclosed: [(socket: Int32, user: UInt32)] = []

    /// - Parameter program: camkeeper's path. It is started when the first descriptor comes.
    /// - Parameter patience: how many times as long as usual a keeper may take for one job; 1 but in tests.
    /// - Parameter note: gets a sentence for the journal when a keeper hangs, and when it is back.
    public init(program: String, patience: Int64 = 1, on loop: EventLoop, note: @escaping (String) -> Void) {
        self.program = program
        answerTimeMax = patience * DescriptorKeeper.answerTimeMax
        self.loop = loop
        self.note = note
    }

    /// Has bytes that have arrived at a client's socket taken, with the descriptors that may come with them.
    /// - Parameter isBeginning: the first of them begins a message; descriptors may come with it, and with no other byte.
    /// - Parameter socket: stays the caller's, which neither reads nor closes it until the answer.
    /// - Parameter answer: called once, never from inside this call.
    func take(_ bytes: Int, isBeginning: Bool, from socket: Int32, user: UInt32, _ answer: @escaping (Answer) -> Void) {
        if let why = refusal(of: user) { return loop.defer { answer(.refused(why)) } }
        wishes.append(Wish(bytes: bytes, isBeginning: isBeginning, socket: socket, user: user, answer: answer))
        loop.defer { [weak self] in self?.serve() }
    }

    /// Ends a client's connection and closes its socket: descriptors that wait in it are closed by a keeper.
    public func close(_ socket: Int32, user: UInt32) {
        let isBeingRead = atWork.contains(user) && !wishes.contains { $0.socket == socket }
        wishes.removeAll { $0.socket == socket }
        // Two that read at once could each take what the other has looked at.
        if isBeingRead { shutdown(socket, Int32(SHUT_RDWR)) }
        if (isBeingRead || camarb_intake_end(socket) != 0) && !dispose(of: socket, user: user) {
            // Never here: it may hang. It stays open until a keeper can have it.
            unclosed.append((socket, user))
            return
        }
        Glibc.close(socket)
    }

    // MARK: Serving

    private func refusal(of user: UInt32) -> String? {
        if stuck.contains(where: { $0.stuckFor == user }) {
            return "it passed a descriptor, and an earlier one of user \(user) hangs whoever closes it"
        }
        guard stuck.count < Self.stuckMax || user == 0 else {
            return
                "it passed a descriptor, and \(stuck.count) of other users hang whoever closes them, the most that may"
        }
        return nil
    }

    private func mayBring(_ user: UInt32) -> Bool {
        let more = Int(camarb_keeper_descriptors_max)
        let own = onTheirWay[user, default: 0]
        let left = Self.inAllMax - (inAll - own)
        return own + more <= Self.ofUserMax && (own + more <= left / 2 || user == 0)
    }

    private func serve() {
        // Answers come later; only failing to start a keeper calls somebody from here.
        var index = 0
        while index < wishes.count {
            let user = wishes[index].user
            guard !atWork.contains(user), mayBring(user) else {
                index += 1
                continue
            }
            let keeper: DescriptorKeeper
            do throws(SystemFault) {
                guard let found = try freeKeeper(for: user) else { return }
                keeper = found
            } catch {
                let wish = wishes.remove(at: index)
                wish.answer(.refused("it passed a descriptor, and nobody can take it: \(error)"))
                continue
            }
            let wish = wishes[index]
            let isGiven = keeper.take(wish.bytes, isBeginning: wish.isBeginning, from: wish.socket, user: user) {
                wish.answer(Self.answer($0))
            }
            guard isGiven else {
                keepers.removeAll { $0 === keeper }
                ending.append(keeper)
                continue
            }
            wishes.remove(at: index)
            atWork.insert(user)
        }
    }

    private func freeKeeper(for user: UInt32) throws(SystemFault) -> DescriptorKeeper? {
        // Where all else that a keeper has to do is the user's own, nobody else waits for it.
        if let free = keepers.first(where: \.isIdle) ?? keepers.first(where: { $0.serves(only: user) }) { return free }
        // Keepers that end at once are not replaced faster than they are reaped.
        guard keepers.count + ending.count < Self.workingMax else { return nil }
        return try newKeeper()
    }

    private func newKeeper() throws(SystemFault) -> DescriptorKeeper {
        let keeper = try DescriptorKeeper(program, self, on: loop)
        keepers.append(keeper)
        return keeper
    }

    private static func answer(_ taking: DescriptorKeeper.Taking) -> Answer {
        guard case .taken(let trouble, let passed, let brought) = taking else {
            return .refused("the process that took its descriptors has ended or hangs")
        }
        switch trouble {
        case Int(camarb_keeper_fine): return .taken(passed)
        case Int(camarb_keeper_misplaced):
            return .refused("it passed a descriptor with another byte than a message's first")
        case Int(camarb_keeper_too_many): return .tooMany(brought)
        default: return .refused("what it sent could not be taken")
        }
    }

    private func dispose(of socket: Int32, user: UInt32) -> Bool {
        // A keeper that hangs is as good: its sockets are closed when it ends.
        for keeper in stuck where keeper.dispose(of: socket, user: user) { return true }
        if let idle = keepers.first(where: \.isIdle), idle.dispose(of: socket, user: user) { return true }
        if keepers.count < Self.workingMax, let new = try? newKeeper(), new.dispose(of: socket, user: user) {
            return true
        }
        return keepers.contains { $0.dispose(of: socket, user: user) }
    }

    /// Has an envelope closed whose keeper has ended.
    func closeKept(_ envelope: Int32, user: UInt32) {
        if dispose(of: envelope, user: user) { Glibc.close(envelope) } else { unclosed.append((envelope, user)) }
    }

    private func closeUnclosed() {
        while let (socket, user) = unclosed.last, dispose(of: socket, user: user) {
            unclosed.removeLast()
            Glibc.close(socket)
        }
    }

    // MARK: What keepers and descriptors tell

    func began(_ user: UInt32) {
        onTheirWay[user, default: 0] += 1
        inAll += 1
    }

    func arrived(_ user: UInt32) {
        let left = onTheirWay[user, default: 1] - 1
        onTheirWay[user] = left > 0 ? left : nil
        inAll -= 1
        if !wishes.isEmpty { loop.defer { [weak self] in self?.serve() } }
    }

    /// - Parameter cookie: names an envelope, which the keeper may let go of once this process has no copy.
    /// - Parameter wasKept: whether the envelope had arrived before.
    func ended(_ user: UInt32, _ cookie: UInt64, _ keeper: DescriptorKeeper, wasKept: Bool) {
        if !wasKept { arrived(user) }
        loop.defer { [weak self] in
            keeper.letGo(cookie, user: user)
            self?.serve()
        }
    }

    func finished(_ keeper: DescriptorKeeper, _ user: UInt32, isTake: Bool) {
        if isTake { atWork.remove(user) }
        if !unclosed.isEmpty && keeper.isIdle { closeUnclosed() }
        if !wishes.isEmpty { loop.defer { [weak self] in self?.serve() } }
    }

    func isStuck(_ keeper: DescriptorKeeper, _ user: UInt32) {
        keepers.removeAll { $0 === keeper }
        stuck.append(keeper)
        note(
            "a descriptor of user \(user) hangs whoever closes it: its keeper was given up, and further descriptors of "
                + "the user are refused until it is back (\(stuck.count) hang)")
        let others = wishes.filter { $0.user == user }
        wishes.removeAll { $0.user == user }
        for wish in others {
            loop.defer { wish.answer(.refused("it passed a descriptor, and an earlier one of user \(user) hangs")) }
        }
    }

    func isGone(_ keeper: DescriptorKeeper) {
        keepers.removeAll { $0 === keeper }
        ending.removeAll { $0 === keeper }
        if !wishes.isEmpty { loop.defer { [weak self] in self?.serve() } }
        guard let index = stuck.firstIndex(where: { $0 === keeper }) else { return }
        stuck.remove(at: index)
        if let user = keeper.stuckFor { note("user \(user)'s descriptors are taken again: what hung is over") }
    }
}
