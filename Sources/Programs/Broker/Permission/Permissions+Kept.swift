import Arbiter
import ArbiterProtocol
import Bus
import System

/// What is kept of users' apps: told to the core while a user has clients, and charged to that user.
extension Permissions {
    private func isTold(_ user: UInt32) -> Bool {
        if user == 0 { return true }
        return switch told[user] {
        case nil, .part: false
        case .all, .unreadable: true
        }
    }

    /// Goes on once all that is kept of these users' apps is told to the core: in this turn where it is already; else in further turns
    /// of the connection, as each answer is a step of the core.
    func whenTold(_ users: [UInt32], _ request: Request, _ work: @escaping () throws(BrokerError) -> Void) {
        if users.allSatisfy(isTold) { return request.carryOut(work) }
        request.answerLater()
        request.client.connection.goOn { [self] end in
            do throws(BrokerError) {
                for user in users { guard try tell(user, until: end) else { return false } }
                request.carryOut(work)
            } catch { request.answer(error) }
            return true
        }
    }

    /// Before an app starts: answers count before anybody is let in. A client without a right is not, whatever is kept.
    func whenToldToStart(_ request: Request, _ work: @escaping () throws(BrokerError) -> Void) {
        let client = request.client
        whenTold(broker.arbiter.hasRight(client.id) ? [client.uid] : [], request, work)
    }

    /// The same, for a client that has just become an app: plans and explanations read answers, too.
    func tellSoon(of client: BrokerClient) {
        guard !isTold(client.uid), broker.arbiter.hasRight(client.id) else { return }
        // Where there is no room for them, the app's start is refused, and says why.
        client.connection.goOn { [self] end in (try? tell(client.uid, until: end)) ?? true }
    }

    /// Goes on, as `whenTold` does, for a client of whose user something may be kept.
    func whenKept(
        _ users: [UInt32], _ request: Request, _ work: @escaping () throws(BrokerError) -> Void
    ) throws(BrokerError) {
        request.answerLater()
        // Right after a start nobody's right is known.
        try broker.cameras.whenKnown(request.client) { [self] in
            do throws(BrokerError) {
                if try !clients.hasRight(request.client) {
                    throw Refusal.noRightToAny(of: request.client.uid, under: broker.arbiter.policy).sentence
                }
                whenTold(users, request, work)
            } catch { request.answer(error) }
        }
    }

    /// Tells the core of a user's answers, until the moment `end` at the latest.
    private func tell(_ user: UInt32, until end: Int64) throws(BrokerError) -> Bool {
        if isTold(user) { return true }
        guard var lines = try lines(of: user) else { return true }
        while let line = lines.next() {
            answers.take(line, of: user)
            switch line {
            case .isPrivate: broker.step(.ownPrivacy(user: user, on: true))
            case .answer(let kept):
                broker.step(
                    .answered(AppID(kept.app, user: user), isClaimed: kept.isClaimed, kept.answer, by: kept.origin))
            case .unreadable: break
            }
            if EventLoop.now >= end {
                told[user] = .part(lines)
                return false
            }
        }
        told[user] = .all
        settle(user)
        return true
    }

    private func lines(of user: UInt32) throws(BrokerError) -> KeptLines? {
        if case .part(let lines) = told[user] { return lines }
        let lines: KeptLines
        do throws(SystemFault) { lines = try answers.lines(of: user) } catch {
            told[user] = .unreadable
            clients.lines.send(
                .warning, about: user,
                "what user \(user) said of apps cannot be read from \(answers.folder ?? ""), and is left as it is: \(error)"
            )
            return nil
        }
        do throws(BrokerError) {
            try charge(lines.answersMax - clients.budgets.use(of: user, .answers), to: user)
        } catch {
            answers.leave(user)
            throw error
        }
        told[user] = .part(lines)
        return lines
    }

    /// After a client has left: of a user who has none nothing is in memory. What root said of such a user stays until it leaves, too.
    func clientLeft(_ client: BrokerClient) {
        let users = trust.isTrusted(client) ? told.keys.sorted() : [client.uid]
        for user in users where clients.budgets.use(of: user, .connections) == 0 {
            guard told.removeValue(forKey: user) != nil else { continue }
            broker.step(.answersForgotten(user: user))
            answers.leave(user)
            settle(user)
        }
    }

    func isPrivate(_ user: UInt32) -> Bool {
        isTold(user) ? broker.arbiter.isPrivate(for: user) : answers.saysPrivate(user)
    }

    func charge(_ amount: Int, to user: UInt32) throws(BrokerError) {
        do throws(Budgets.Refusal) { try clients.budgets.charge(.answers, max(0, amount), to: user) } catch {
            throw BrokerError(.limitExceeded, "\(error.sentence) Forget some of them.")
        }
    }

    private func count(of user: UInt32) -> Int {
        broker.arbiter.words(of: user).count + (broker.arbiter.isPrivate(for: user) ? 1 : 0)
    }

    /// Gives back what was charged and is not there: what was refused, forgotten, or said twice.
    func settle(_ user: UInt32) {
        if case .part = told[user] { return }
        let used = clients.budgets.use(of: user, .answers)
        let left = max(count(of: user), answers.count(of: user))
        if left < used { clients.release(.answers, used - left, of: user) }
    }

    /// Decides, and answers once it is in the user's file: whoever hears that something is kept may rely on it.
    func decide(
        _ event: Event, of user: UInt32, adding: Int, _ request: Request, _ keep: () -> Void = {}
    ) throws(BrokerError) {
        if adding > 0, !answers.hasRoom(for: user) {
            throw BrokerError(
                .limitExceeded,
                "Answers of \(AnswerStore.filesMax) users are kept, the most there may be, and none of user \(user); "
                    + "root makes room in \(answers.folder ?? "")."
            )
        }
        try charge(adding, to: user)
        defer { settle(user) }
        let client = request.client
        try clients.charge(.questions, to: client, "They are being written; ask again in a moment.")
        request.answerLater()
        guard broker.step(event, for: request) == nil else { return clients.release(.questions, 1, of: client) }
        keep()
        answers.whenWritten(user) { [unowned self] in
            clients.release(.questions, 1, of: client)
            request.answer()
        }
    }
}
