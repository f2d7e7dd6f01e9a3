import Arbiter
package import ArbiterProtocol

/// What each speaker said about the world, where several may speak of one fact, and what follows from it for the core.
///
///     speakers ──say──▶ what each said last ──combined──▶ the one event for the core, where that changed
///         └────forget──▶ without one of them ────────────▶ the events for what changed by that
///
/// No speaker undoes what another one said: a switch is on while anybody says so, the machine is as hard pressed as the
/// hardest word, and of two places of an app the one that was said last holds, for as long as its speaker is there.
///
/// A value without input and output. The same words always give the same events, in the order of the facts.
package struct FactBoard {
    /// One that speaks. Its words end with it.
    package enum Speaker: Hashable, Sendable {
        case client(ClientID)
        /// Whoever is trusted with everybody's facts, through any connection: such a word stands until one of them says
        /// otherwise, so that a privacy switch outlasts the program that was used to set it.
        case trusted
        /// A camera's own word, by its recorder core.
        case camera(CameraID)
        case logind
        case gauge
    }

    package struct Placement: Hashable, Sendable {
        package var presence: Presence
        package var focused: Bool

        package init(_ presence: Presence, focused: Bool) {
            self.presence = presence
            self.focused = focused
        }
    }

    /// What each speaker said, the latest at the end.
    private typealias Words<Value> = [(speaker: Speaker, value: Value)]

    /// By the camera; nil: all of them. Only switches that are on are there.
    private var privacy: [CameraID?: Words<Bool>] = [:]
    /// By the app; only what is taken is there.
    private var microphones: [AppID: Words<Bool>] = [:]
    private var pressure: Words<SystemPressure> = []
    private var sleep: Words<Bool> = []
    private var logins: [LoginSessionID: Words<LoginSessionFacts>] = [:]
    /// One source has one place for an app; shells and agents are told apart by the core.
    private var places: [Placed: Words<Placement>] = [:]
    private struct Placed: Hashable {
        var app: AppID
        var source: PresenceSource
    }

    package init() {}

    package mutating func say(privacy camera: CameraID?, on: Bool, by speaker: Speaker) -> Event? {
        let before = isPrivate(camera)
        Self.say(on ? true : nil, by: speaker, in: &privacy, camera)
        return isPrivate(camera) == before ? nil : .privacy(camera, on: !before)
    }

    package mutating func say(microphoneOf app: AppID, taken: Bool, by speaker: Speaker) -> Event? {
        let before = isMicrophoneTaken(by: app)
        Self.say(taken ? true : nil, by: speaker, in: &microphones, app)
        return isMicrophoneTaken(by: app) == before ? nil : .microphone(app, taken: !before)
    }

    package mutating func say(pressure level: SystemPressure?, by speaker: Speaker) -> Event? {
        let before = pressureLevel
        Self.say(level, by: speaker, in: &pressure)
        return pressureLevel == before ? nil : .pressure(pressureLevel)
    }

    package mutating func say(asleep: Bool, by speaker: Speaker) -> Event? {
        let before = !sleep.isEmpty
        Self.say(asleep ? true : nil, by: speaker, in: &sleep)
        return sleep.isEmpty == !before ? nil : .sleep(!before)
    }

    package mutating func say(
        login session: LoginSessionID, _ facts: LoginSessionFacts?, by speaker: Speaker
    ) -> Event? {
        let before = login(session)
        Self.say(facts, by: speaker, in: &logins, session)
        let now = login(session)
        guard now != before else { return nil }
        return now.map { .loginSession(session, $0) } ?? .loginSessionEnded(session)
    }

    package mutating func say(
        place app: AppID, _ placement: Placement?, source: PresenceSource, by speaker: Speaker
    ) -> Event {
        let key = Placed(app: app, source: source)
        Self.say(placement, by: speaker, in: &places, key)
        return placing(key)
    }

    /// It has gone, and nothing holds any more because it said so.
    ///
    /// Places that only it gave are left to the core, which keeps them for a moment after a source is lost
    /// (semantics.md §9): no event here tells of them. To be called before the core is told that the source is gone.
    package mutating func forget(_ speaker: Speaker) -> [Event] {
        var events: [Event?] = []
        for camera in Self.spokenOf(privacy, by: speaker).sorted(by: { ($0?.name ?? "") < ($1?.name ?? "") }) {
            events.append(say(privacy: camera, on: false, by: speaker))
        }
        events += forgetMicrophones(of: speaker)
        events.append(say(pressure: nil, by: speaker))
        events.append(say(asleep: false, by: speaker))
        for session in Self.spokenOf(logins, by: speaker).sorted() {
            events.append(say(login: session, nil, by: speaker))
        }
        return events.compactMap(\.self) + forgetPlaces(of: speaker)
    }

    package mutating func forgetMicrophones(of speaker: Speaker) -> [Event] {
        Self.spokenOf(microphones, by: speaker).sorted().compactMap { say(microphoneOf: $0, taken: false, by: speaker) }
    }

    /// What a speaker said as one source alone; nil: as any.
    package mutating func forgetPlaces(of speaker: Speaker, as source: PresenceSource? = nil) -> [Event] {
        let keys = Self.spokenOf(places, by: speaker).filter { source == nil || $0.source == source }
            .sorted { ($0.app, $0.source.rawValue) < ($1.app, $1.source.rawValue) }
        return keys.compactMap { key in
            let wasLast = places[key]?.last?.speaker == speaker
            Self.say(nil, by: speaker, in: &places, key)
            return wasLast && places[key] != nil ? placing(key) : nil
        }
    }

    package func isPrivate(_ camera: CameraID?) -> Bool { privacy[camera] != nil }
    package func isMicrophoneTaken(by app: AppID) -> Bool { microphones[app] != nil }

    package var pressureLevel: SystemPressure { pressure.map(\.value).max() ?? .nominal }

    package func pressure(by speaker: Speaker) -> SystemPressure? { pressure.first { $0.speaker == speaker }?.value }

    /// Where both logind and a person speak of a session, the narrower word counts for whether its user looks at it; where
    /// it is, and whose, logind knows better.
    package func login(_ session: LoginSessionID) -> LoginSessionFacts? {
        guard let words = logins[session], let known = words.first(where: { $0.speaker == .logind }) ?? words.last
        else { return nil }
        var facts = known.value
        facts.isActive = words.allSatisfy(\.value.isActive)
        facts.isLocked = words.contains(where: \.value.isLocked)
        return facts
    }

    private func placing(_ key: Placed) -> Event {
        guard let placement = places[key]?.last?.value else { return .unplaced(key.app, by: key.source) }
        return .placed(key.app, placement.presence, focused: placement.focused, by: key.source)
    }

    /// Those facts that a speaker has said something of, in no order.
    private static func spokenOf<Key, Value>(_ facts: [Key: Words<Value>], by speaker: Speaker) -> [Key] {
        facts.compactMap { key, words in words.contains { $0.speaker == speaker } ? key : nil }
    }

    private static func say<Value>(_ value: Value?, by speaker: Speaker, in words: inout Words<Value>) {
        words.removeAll { $0.speaker == speaker }
        if let value { words.append((speaker, value)) }
    }

    private static func say<Key, Value>(
        _ value: Value?, by speaker: Speaker, in facts: inout [Key: Words<Value>], _ key: Key
    ) {
        var words = facts[key] ?? []
        say(value, by: speaker, in: &words)
        facts[key] = words.isEmpty ? nil : words
    }
}
