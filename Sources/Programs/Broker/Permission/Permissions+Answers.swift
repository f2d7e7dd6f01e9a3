import Arbiter
import ArbiterProtocol
import Bus
import System

extension Permissions {
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

    /// The list as a whole: what it does not name any more is not denied any more. Names are looked up in turns of the connection.
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
                // Keys of the store are whatever somebody once wrote there: one that no app can be called denies nobody, and the
                // others count.
                while let name = left.popFirst() {
                    if let app = try? desktops.app(name, by: client) { wanted.insert(app) }
                    if EventLoop.now >= end, !left.isEmpty { return false }
                }
                // Only a trusted client names other users' apps.
                let users = Set(wanted.map(\.user)).union([client.uid]).sorted()
                whenTold(users, request) { [self] () throws(BrokerError) in try deny(wanted, of: users, request) }
                return true
            }
        }
    }

    private func requireAgent(_ client: BrokerClient) throws(BrokerError) {
        // Where a shell says where apps are, the agent sees no windows, and is known by the microphones alone.
        let agent =
            desktops.speakers.speaker(in: .init(.agent, user: client.uid))
            ?? desktops.speakers.speaker(in: .init(.microphones, user: client.uid))
        guard trust.isTrusted(client) || agent?.client == client.id else {
            throw BrokerError(
                .notTrusted,
                client.more?.displaced ?? "Only the agent of a user reads its permission store; Attach first.")
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
        desktops.say(events[...], request, last: settleAll)
    }

    /// What makes the core deny these apps of a user's and no others, charged to that user.
    private func changes(to wanted: Set<AppID>, of user: UInt32) throws(BrokerError) -> [Event] {
        let words = broker.arbiter.words(of: user)
        let denied = words.filter(\.isDenied).map(\.app)
        let answered = words.filter { $0.answer != nil }
        // The answers stay; what is denied besides is as many words more.
        let after =
            answered.count + wanted.subtracting(answered.filter { !$0.isClaimed }.map(\.app)).count
            + (broker.arbiter.isPrivate(for: user) ? 1 : 0)
        try charge(after - clients.budgets.use(of: user, .answers), to: user)
        return denied.filter { !wanted.contains($0) }.map { .answered($0, isClaimed: false, nil, by: .permissionStore) }
            + wanted.subtracting(denied).sorted().map { .answered($0, isClaimed: false, .deny, by: .permissionStore) }
    }
}
