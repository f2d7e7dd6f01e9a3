import Arbiter
package import ArbiterProtocol

/// The facts that several reporters may report, each reporter's latest report of them, and the events for the core that follow.
///
///     reporters ──report──▶ the latest of each ──combined──▶ the one event for the core, where that changed
///         └────forget──▶ without one of them ────────────▶ the events for all that changed by that
///
/// No reporter undoes another one's report: a switch is on while any reports it on, the machine is as hard pressed as the
/// hardest report, and of two places of an app the latest holds, for as long as its reporter is there.
///
/// A value without input and output. The same reports always give the same events, in the order of the facts.
package struct FactBoard {
    /// A reporter's reports end with it.
    package enum Reporter: Hashable, Sendable {
        case client(ClientID)
        /// All trusted clients together: such a report stands until one of them changes it, so that a privacy switch outlasts the
        /// program that set it.
        case trusted
        case camera(CameraID)
        case logind
        case gauge
    }

    package struct Placement: Hashable, Sendable {
        package var presence: Presence
        package var focused: Bool

        package init(_ presence: Presence, focused: Bool) {
            (self.presence, self.focused) = (presence, focused)
        }
    }

    private typealias Reports<Value> = [(reporter: Reporter, value: Value)]

    /// By the camera, with `nil` for all of them. Only switches that are on are there.
    private var privacy: [CameraID?: Reports<Bool>] = [:]
    /// Only microphones that are taken are there.
    private var microphones: [AppID: Reports<Bool>] = [:]
    private var pressure: Reports<SystemPressure> = []
    private var sleep: Reports<Bool> = []
    private var logins: [LoginSessionID: Reports<LoginSessionFacts>] = [:]
    /// One source has one place for an app; shells and agents are told apart by the core.
    private var places: [Placed: Reports<Placement>] = [:]
    private struct Placed: Hashable {
        var app: AppID
        var source: PresenceSource
    }

    package init() {}

    package mutating func report(privacy camera: CameraID?, on: Bool, by reporter: Reporter) -> Event? {
        let before = isPrivate(camera)
        Self.set(on ? true : nil, by: reporter, in: &privacy, camera)
        return isPrivate(camera) == before ? nil : .privacy(camera, on: !before)
    }

    package mutating func report(microphoneOf app: AppID, taken: Bool, by reporter: Reporter) -> Event? {
        let before = isMicrophoneTaken(by: app)
        Self.set(taken ? true : nil, by: reporter, in: &microphones, app)
        return isMicrophoneTaken(by: app) == before ? nil : .microphone(app, taken: !before)
    }

    package mutating func report(pressure level: SystemPressure?, by reporter: Reporter) -> Event? {
        let before = pressureLevel
        Self.set(level, by: reporter, in: &pressure)
        return pressureLevel == before ? nil : .pressure(pressureLevel)
    }

    package mutating func report(asleep: Bool, by reporter: Reporter) -> Event? {
        let before = !sleep.isEmpty
        Self.set(asleep ? true : nil, by: reporter, in: &sleep)
        return sleep.isEmpty == !before ? nil : .sleep(!before)
    }

    package mutating func report(
        login session: LoginSessionID, _ facts: LoginSessionFacts?, by reporter: Reporter
    ) -> Event? {
        let before = login(session)
        Self.set(facts, by: reporter, in: &logins, session)
        let now = login(session)
        guard now != before else { return nil }
        return now.map { .loginSession(session, $0) } ?? .loginSessionEnded(session)
    }

    package mutating func report(
        place app: AppID, _ placement: Placement?, source: PresenceSource, by reporter: Reporter
    ) -> Event {
        let key = Placed(app: app, source: source)
        Self.set(placement, by: reporter, in: &places, key)
        return placing(key)
    }

    /// Forgets all reports of a reporter. Places that only it gave have no event here: the core keeps them for a moment after a
    /// source is lost (semantics.md §9). To be called before the core is stepped with the source's end.
    package mutating func forget(_ reporter: Reporter) -> [Event] {
        var events: [Event?] = []
        for camera in Self.reported(privacy, by: reporter).sorted(by: { ($0?.name ?? "") < ($1?.name ?? "") }) {
            events.append(report(privacy: camera, on: false, by: reporter))
        }
        events += forgetMicrophones(of: reporter)
        events.append(report(pressure: nil, by: reporter))
        events.append(report(asleep: false, by: reporter))
        for session in Self.reported(logins, by: reporter).sorted() {
            events.append(report(login: session, nil, by: reporter))
        }
        return events.compactMap(\.self) + forgetPlaces(of: reporter)
    }

    package mutating func forgetMicrophones(of reporter: Reporter) -> [Event] {
        Self.reported(microphones, by: reporter).sorted().compactMap {
            report(microphoneOf: $0, taken: false, by: reporter)
        }
    }

    /// - Parameter source: `nil` for all sources.
    package mutating func forgetPlaces(of reporter: Reporter, as source: PresenceSource? = nil) -> [Event] {
        let keys = Self.reported(places, by: reporter).filter { source == nil || $0.source == source }
            .sorted { ($0.app, $0.source.rawValue) < ($1.app, $1.source.rawValue) }
        return keys.compactMap { key in
            let wasLast = places[key]?.last?.reporter == reporter
            Self.set(nil, by: reporter, in: &places, key)
            return wasLast && places[key] != nil ? placing(key) : nil
        }
    }

    package func isPrivate(_ camera: CameraID?) -> Bool { privacy[camera] != nil }
    package func isMicrophoneTaken(by app: AppID) -> Bool { microphones[app] != nil }

    package var pressureLevel: SystemPressure { pressure.map(\.value).max() ?? .nominal }

    package func pressure(by reporter: Reporter) -> SystemPressure? {
        pressure.first { $0.reporter == reporter }?.value
    }

    /// Where both logind and a person report a session, the narrower report counts for whether its user looks at it; its seat and
    /// its user are logind's.
    package func login(_ session: LoginSessionID) -> LoginSessionFacts? {
        guard let reports = logins[session],
            let known = reports.first(where: { $0.reporter == .logind }) ?? reports.last
        else { return nil }
        var facts = known.value
        facts.isActive = reports.allSatisfy(\.value.isActive)
        facts.isLocked = reports.contains(where: \.value.isLocked)
        return facts
    }

    private func placing(_ key: Placed) -> Event {
        guard let placement = places[key]?.last?.value else { return .unplaced(key.app, by: key.source) }
        return .placed(key.app, placement.presence, focused: placement.focused, by: key.source)
    }

    private static func reported<Key, Value>(_ facts: [Key: Reports<Value>], by reporter: Reporter) -> [Key] {
        facts.compactMap { key, reports in reports.contains { $0.reporter == reporter } ? key : nil }
    }

    private static func set<Value>(_ value: Value?, by reporter: Reporter, in reports: inout Reports<Value>) {
        reports.removeAll { $0.reporter == reporter }
        if let value { reports.append((reporter, value)) }
    }

    private static func set<Key, Value>(
        _ value: Value?, by reporter: Reporter, in facts: inout [Key: Reports<Value>], _ key: Key
    ) {
        var reports = facts[key] ?? []
        set(value, by: reporter, in: &reports)
        facts[key] = reports.isEmpty ? nil : reports
    }
}
