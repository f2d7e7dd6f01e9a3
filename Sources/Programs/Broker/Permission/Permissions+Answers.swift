import Arbiter
import ArbiterProtocol
import Bus
import System

/// The users' answers: known to the core while a user has clients, kept in files, and charged to that user.
extension Permissions {
    private func isLoaded(_ user: UInt32) -> Bool {
        switch loaded[user] {
        case nil, .part: false
        case .all, .unreadable: true
        }
    }

    /// Goes on once the core has all answers of these users: in this turn where it has them; else in further turns of the connection,
    /// as each answer is a step of the core.
    func whenLoaded(_ users: [UInt32], _ request: Request, _ work: @escaping () throws(BrokerError) -> Void) {
        if users.allSatisfy(isLoaded) { return request.carryOut(work) }
        request.answerLater()
        request.client.connection.goOn { [self] end in
            do throws(BrokerError) {
                for user in users { guard try load(user, until: end) else { return false } }
                request.carryOut(work)
            } catch { request.answer(error) }
            return true
        }
    }

    /// Answers count before any app starts. A client without a right does not start, whatever its user's answers are.
    func beforeStart(_ request: Request, _ work: @escaping () throws(BrokerError) -> Void) {
        let client = request.client
        whenLoaded(broker.arbiter.hasRight(client.id) ? [client.uid] : [], request, work)
    }

    /// For a client that has just become an app: plans and explanations read answers, too.
    func loadSoon(for client: BrokerClient) {
        guard !isLoaded(client.uid), broker.arbiter.hasRight(client.id) else { return }
        // Where there is no room for them, the app's start is refused with the reason.
        client.connection.goOn { [self] end in (try? load(client.uid, until: end)) ?? true }
    }

    /// Goes on, as `whenLoaded` does, for a client with a right to a camera.
    func whenKept(
        _ users: [UInt32], _ request: Request, _ work: @escaping () throws(BrokerError) -> Void
    ) throws(BrokerError) {
        // Right after a start no right is known.
        try cameras.whenKnown(request) { [self] () throws(BrokerError) in
            if try !clients.hasRight(request.client) {
                throw Refusal.noRightToAny(of: request.client.uid, under: broker.arbiter.policy).sentence
            }
            whenLoaded(users, request, work)
        }
    }

    /// Steps the core with a user's answers, until the moment `end` at the latest.
    private func load(_ user: UInt32, until end: Int64) throws(BrokerError) -> Bool {
        if isLoaded(user) { return true }
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
                loaded[user] = .part(lines)
                return false
            }
        }
        loaded[user] = .all
        settle(user)
        return true
    }

    private func lines(of user: UInt32) throws(BrokerError) -> KeptLines? {
        if case .part(let lines) = loaded[user] { return lines }
        let lines: KeptLines
        do throws(SystemFault) { lines = try answers.lines(of: user) } catch {
            loaded[user] = .unreadable
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
        loaded[user] = .part(lines)
        return lines
    }

    /// After a user's last client has left nothing of it is in memory. Answers that root gave for such a user stay until root leaves.
    func clientLeft(_ client: BrokerClient) {
        let users = trust.isTrusted(client) ? loaded.keys.sorted() : [client.uid]
        for user in users where clients.budgets.use(of: user, .connections) == 0 {
            guard loaded.removeValue(forKey: user) != nil else { continue }
            broker.step(.answersForgotten(user: user))
            answers.leave(user)
            settle(user)
        }
    }

    func isPrivate(_ user: UInt32) -> Bool {
        isLoaded(user) ? broker.arbiter.isPrivate(for: user) : answers.isPrivate(user)
    }

    func charge(_ amount: Int, to user: UInt32) throws(BrokerError) {
        try clients.charge(.answers, max(0, amount), to: user, "Forget some of them.")
    }

    private func count(of user: UInt32) -> Int {
        broker.arbiter.words(of: user).count + (broker.arbiter.isPrivate(for: user) ? 1 : 0)
    }

    /// Releases the charge of answers that are not there: refused, forgotten, or given twice.
    func settle(_ user: UInt32) {
        if case .part = loaded[user] { return }
        let used = clients.budgets.use(of: user, .answers)
        let left = kept(of: user)
        if left < used { clients.release(.answers, used - left, of: user) }
    }

    /// The answers of a user in memory. Without a folder they stay when its last client leaves: no file has them.
    func kept(of user: UInt32) -> Int { max(count(of: user), answers.count(of: user)) }

    /// Decides, and answers the call once the answer is in the user's file, so that its author may rely on it.
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
        guard broker.step(event, for: request) == nil else { return clients.release(.questions, 1, of: client.uid) }
        keep()
        answers.whenWritten(user) { [unowned self] in
            clients.release(.questions, 1, of: client.uid)
            request.answer()
        }
    }

    // MARK: Giving answers

    func setAnswer(_ app: AppID, isClaimed: Bool, _ answer: AppAnswer?, _ request: Request) throws(BrokerError) {
        let isThere = broker.arbiter.words(of: app.user).contains { $0.app == app && $0.isClaimed == isClaimed }
        try decide(
            .answered(app, isClaimed: isClaimed, answer, by: .user), of: app.user,
            adding: answer == nil || isThere ? 0 : 1, request)
    }

    func setOwnPrivacy(_ on: Bool, _ request: Request) throws(BrokerError) {
        let user = request.client.uid
        try decide(
            .ownPrivacy(user: user, on: on), of: user, adding: on && !broker.arbiter.isPrivate(for: user) ? 1 : 0,
            request
        ) { answers.keep(privacy: on, of: user) }
    }

    func listAnswers(of user: UInt32) -> WireValue {
        var list: [StoredAnswer] = []
        for word in broker.arbiter.words(of: user) {
            func add(_ answer: AppAnswer, _ since: String?, _ origin: AnswerOrigin) {
                list.append(
                    StoredAnswer {
                        ($0.app, $0.isVouched, $0.answer) = (word.app.name, !word.isClaimed, answer)
                        ($0.since, $0.origin) = (since, origin)
                    })
            }
            if let answer = word.answer {
                add(answer, answers.since(word.app.name, isClaimed: word.isClaimed, of: user), word.origin)
            }
            if word.isDenied { add(.deny, nil, .permissionStore) }
        }
        return list.wireValue
    }

    /// Replaces the whole list of denied apps. Names are looked up in turns of the connection.
    func setDenied(_ names: [String], _ request: Request) throws(BrokerError) {
        try requireAgent(request.client)
        guard names.count <= Bound.answersMax else {
            throw BrokerError(
                .limitExceeded, "apps has \(names.count) entries; a permission store may deny \(Bound.answersMax) apps."
            )
        }
        let client = request.client
        try whenKept([client.uid], request) { [self] in
            request.answerLater()
            var (left, wanted) = (names[...], Set<AppID>())
            client.connection.goOn { [self] end in
                // The store's keys are arbitrary: one that no app can have as its name denies nobody, and the others count.
                while let name = left.popFirst() {
                    if let app = try? desktops.app(name, by: client) { wanted.insert(app) }
                    if EventLoop.now >= end, !left.isEmpty { return false }
                }
                // Only a trusted client names other users' apps.
                let users = Set(wanted.map(\.user)).union([client.uid]).sorted()
                whenLoaded(users, request) { [self] () throws(BrokerError) in try deny(wanted, of: users, request) }
                return true
            }
        }
    }

    private func requireAgent(_ client: BrokerClient) throws(BrokerError) {
        // Where a shell places apps, the agent sees no windows, and is known by the microphones alone.
        let agent =
            desktops.speakers.speaker(in: .init(.agent, user: client.uid))
            ?? desktops.speakers.speaker(in: .init(.microphones, user: client.uid))
        guard trust.isTrusted(client) || agent?.client == client.id else {
            throw client.notTrusted("Only the agent of a user reads its permission store; Attach first.")
        }
        try requireAnswerer(client)
    }

    private func deny(_ wanted: Set<AppID>, of users: [UInt32], _ request: Request) throws(BrokerError) {
        func settleAll() { for user in users { settle(user) } }
        var events: [Event] = []
        do throws(BrokerError) {
            for user in users where user != 0 { events += try changes(to: wanted.filter { $0.user == user }, of: user) }
        } catch {
            settleAll()
            throw error
        }
        request.answerLater()
        desktops.step(events, request, last: settleAll)
    }

    /// The events after which the core denies these apps of a user's and no others, charged to that user.
    private func changes(to wanted: Set<AppID>, of user: UInt32) throws(BrokerError) -> [Event] {
        let words = broker.arbiter.words(of: user)
        let denied = words.filter(\.isDenied).map(\.app)
        let answered = words.filter { $0.answer != nil }
        // The answers stay; each app that is denied besides is one more.
        let after =
            answered.count + wanted.subtracting(answered.filter { !$0.isClaimed }.map(\.app)).count
            + (broker.arbiter.isPrivate(for: user) ? 1 : 0)
        try charge(after - clients.budgets.use(of: user, .answers), to: user)
        return denied.filter { !wanted.contains($0) }.map { .answered($0, isClaimed: false, nil, by: .permissionStore) }
            + wanted.subtracting(denied).sorted().map { .answered($0, isClaimed: false, .deny, by: .permissionStore) }
    }
}
