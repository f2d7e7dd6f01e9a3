public import Vocabulary

/// Whether its user lets an app have cameras: beside the right, which is the client's, and checked after it.
///
///     given ◀──allow── asked ──deny, late──▶ its sessions are stopped, and a start asks anew or is refused
///
/// A no counts under every policy; a yes is wanted only where the policy has `[access] apps = "ask"`.
extension State {
    /// A byte of an app's row, so that a look reads no name.
    package enum Word: UInt8, Hashable, Sendable, Codable, BitwiseCopyable {
        case none, allowed
        /// By its user, or in the permission store of its user's desktop.
        case denied, deniedInStore

        /// The rule that denies it; `nil`: it is not denied.
        var denial: Law? { self == .denied ? .saidNo : self == .deniedInStore ? .deniedInStore : nil }
    }

    func word(of app: AppRef) -> Word { apps[app.slot][app].word }

    /// No answer about the app, and the policy wants one: its sessions wait (cause 108).
    func isUndecided(_ client: Client) -> Bool { client.right.isAsked && word(of: client.app) == .none }
    package func hasLeave(_ client: Client) -> Bool { word(of: client.app).denial == nil && !isUndecided(client) }

    /// Whether the policy wants its user's answer: not about root's apps, nor about services that the policy itself
    /// names.
    func isAsked(_ client: Client, _ app: AppID) -> Bool {
        guard policy.rights.apps == .ask, app.user != 0 else { return false }
        return client.app.isClaimed || !policy.rights.services.contains(app.name)
    }

    /// In the order of their requests. While its user is away or the machine sleeps nobody could answer.
    package var whoAsks: [Slot<Session>] {
        if world.isAsleep || policy.rights.apps != .ask { return [] }
        let asking = requesting.filter { slot in
            let client = clients[sessions[slot].client]
            return isUndecided(client) && !isAway(client, from: sessions[slot].camera)
        }
        func age(_ slot: Slot<Session>) -> (UInt64, UInt64) {
            (sessions[slot].request?.started ?? 0, sessions[slot].id)
        }
        return asking.sorted { age($0) < age($1) }
    }

    // MARK: Words

    private func place(of app: AppID, _ isClaimed: Bool) -> Int { words.place { $0.isBefore(app, isClaimed) } }

    /// The range of a user's answers, which are sorted by user first.
    func places(ofWordsOf user: UInt32) -> Range<Int> {
        words.place { $0.app.user < user }..<words.place { $0.app.user <= user }
    }

    package func said(of app: AppID, isClaimed: Bool) -> AppWord? {
        let place = place(of: app, isClaimed)
        guard place < words.count, words[place].app == app, words[place].isClaimed == isClaimed else { return nil }
        return words[place]
    }

    /// The answer that counts. The store's denial holds for every app of the name: a claim gains nothing by it.
    package func word(of app: AppID, isClaimed: Bool) -> Word {
        if words.isEmpty { return .none }
        if said(of: app, isClaimed: false)?.isDenied == true { return .deniedInStore }
        return switch said(of: app, isClaimed: isClaimed)?.answer {
        case nil: .none
        case .allow: .allowed
        case .deny: .denied
        }
    }

    /// Changes an answer; an empty entry is removed.
    fileprivate mutating func say(of app: AppID, isClaimed: Bool, _ change: (inout AppWord) -> Void) {
        let place = place(of: app, isClaimed)
        if said(of: app, isClaimed: isClaimed) == nil {
            words.insert(AppWord(app: app, isClaimed: isClaimed), at: place)
        }
        change(&words[place])
        if words[place].answer == nil, !words[place].isDenied { words.remove(at: place) }
        if let slot = appNames[app] { updateWords(slot) }
    }

    /// For a new row, or after an answer about its name.
    mutating func updateWords(_ slot: Slot<App>) {
        let name = appNames[slot]
        apps[slot].vouched.word = word(of: name, isClaimed: false)
        apps[slot].claimed.word = word(of: name, isClaimed: true)
    }
}

extension Arbiter {
    mutating func handlePermission(_ event: Event) throws(Refusal) {
        switch event {
        case .answered(let app, let isClaimed, let answer, let origin):
            try self.answer(app, isClaimed, answer, origin)
        case .questionAnswered(let id, let answer):
            guard let question = state.ledger.questions.first(where: { $0.id == id }) else { throw .questionIsOver(id) }
            try self.answer(state.id(question.app), question.app.isClaimed, answer, .question)
        case .questionsWatched(let user, let on):
            state.questionWatchers.removeAll { $0 == user }
            if on { state.questionWatchers.append(user) }
        case .stoppedByUser(let app): try stop(app)
        case .ownPrivacy(let user, let on):
            state.privateUsers.removeAll { $0 == user }
            if on { state.privateUsers.append(user) }
            touchAll()
        case .answersForgotten(let user): forgetAnswers(of: user)
        default: break
        }
    }

    // MARK: Answers

    private mutating func answer(_ app: AppID, _ isClaimed: Bool, _ answer: AppAnswer?, _ origin: AnswerOrigin)
        throws(Refusal)
    {
        if app.user == 0 { throw .rootsApp }
        let isStores = origin == .permissionStore
        if isStores, isClaimed || answer == .allow { throw .storeOnlyDenies }
        let before = state.said(of: app, isClaimed: isClaimed)
        func isKept(_ word: AppWord) -> Bool { isStores ? word.isDenied : word.answer != nil }
        if answer != nil, before.map(isKept) != true {
            let count = state.words[state.places(ofWordsOf: app.user)].count(where: isKept)
            guard count < Bound.answersMax else { throw .tooManyAnswers(count, of: app.user) }
        }
        state.say(of: app, isClaimed: isClaimed) { word in
            if isStores {
                word.isDenied = answer != nil
            } else {
                word.answer = answer
                word.origin = origin
            }
        }
        let after = state.said(of: app, isClaimed: isClaimed)
        if !isStores, before?.answer != after?.answer || before?.origin != after?.origin {
            notes.effects.append(.announce(.answerKept(app, isClaimed: isClaimed, answer, by: origin)))
        }
        if let slot = state.appNames[app] { obeyWords(slot) }
    }

    /// As if each answer were taken back; the stored ones stay wherever they are kept.
    private mutating func forgetAnswers(of user: UInt32) {
        let places = state.places(ofWordsOf: user)
        let named = state.words[places].map(\.app)
        state.words.removeSubrange(places)
        for app in named {
            guard let slot = state.appNames[app] else { continue }
            state.updateWords(slot)
            obeyWords(slot)
        }
        guard let place = state.privateUsers.firstIndex(of: user) else { return }
        state.privateUsers.remove(at: place)
        touchAll()
    }

    /// Both apps of a name: the store's denial is for either.
    private mutating func obeyWords(_ slot: Slot<App>) {
        for app in state.both(slot) {
            let word = state.word(of: app)
            if let denial = word.denial { stopAll(of: app, .deniedByUser, rule: denial) }
            if word != .none { endQuestion(about: app, word == .allowed ? .allow : .deny) }
            touch(app: app)
        }
        state.release(slot)
    }

    private mutating func stopAll(of app: AppRef, _ reason: StopReason, rule law: Law) {
        for session in state.sessions(of: app) { stopForGood(session, reason, .law(law), why: .interrupted) }
    }

    /// By name: whichever app bears it, the user sees the name.
    private mutating func stop(_ id: AppID) throws(Refusal) {
        let both = state.appNames[id].map { state.both($0) } ?? []
        guard both.contains(where: { state.apps[$0.slot][$0].requests > 0 }) else { throw .asksForNothing(id) }
        for app in both { stopAll(of: app, .stoppedByUser, rule: .stoppedByUser) }
    }

    // MARK: Questions

    private mutating func endQuestion(about app: AppRef, _ end: QuestionEnd) {
        guard let place = state.ledger.questions.firstIndex(where: { $0.app == app }) else { return }
        let question = state.ledger.questions.remove(at: place)
        state.timers.removeAll { $0.kind == .question && $0.app == app }
        // The next app may ask for a camera that this step does not look at.
        notes.meetsUndecided = true
        notes.effects.append(.announce(.questionEnded(question.id, user: state.apps[app.slot].user, end)))
    }

    /// No answer in time: no for this start, and nothing is kept.
    mutating func questionIsLate(_ app: AppRef) {
        let isWatched = state.questionWatchers.contains(state.apps[app.slot].user)
        stopAll(of: app, .deniedByUser, rule: isWatched ? .notAnswered : .nobodyToAsk)
        endQuestion(about: app, .late)
    }

    /// Withdraws questions whose app no longer asks, and asks each user without one about the app that asked first.
    mutating func askUsers() {
        if !notes.meetsUndecided, state.ledger.questions.isEmpty { return }
        let asking = state.whoAsks
        for question in state.ledger.questions where !asking.contains(where: { state.app(of: $0) == question.app }) {
            endQuestion(about: question.app, .gone)
            state.release(question.app.slot)
        }
        for session in asking {
            let app = state.app(of: session)
            let user = state.apps[app.slot].user
            if state.ledger.questions.contains(where: { state.apps[$0.app.slot].user == user }) { continue }
            state.ledger.lastQuestion &+= 1
            state.ledger.questions.append(
                Ledger.Question(
                    id: state.ledger.lastQuestion, app: app, session: state.sessions[session].id,
                    camera: state.sessions[session].camera))
            state.timers.append(TimedFact(kind: .question, due: state.now + Bound.question, app: app))
            notes.effects += questions.filter { $0.id == state.ledger.lastQuestion }.map { .announce(.question($0)) }
        }
    }

    // MARK: For the program that shows it

    /// The open questions, in the order in which they were asked: at most one a user.
    public var questions: [Question] {
        state.ledger.questions.compactMap { known in
            let timer = state.timers.first { $0.kind == .question && $0.app == known.app }
            return timer.map {
                Question(
                    id: known.id, app: state.id(known.app), isClaimed: known.app.isClaimed,
                    session: SessionID(known.session), camera: state.cameraNames[known.camera], until: $0.due)
            }
        }
    }

    /// Answers about a user's apps, by name, the vouched app first.
    public func words(of user: UInt32) -> ArraySlice<AppWord> { state.words[state.places(ofWordsOf: user)] }

    public func isPrivate(for user: UInt32) -> Bool { state.privateUsers.contains(user) }
}
