import Arbiter
import ArbiterProtocol
import Scenario
import Workbench

/// A state as a text by reflection: slow, but with every property that is added to a state. Properties that a fingerprint leaves out are
/// named here, too.
struct StateText {
    private let state: State
    private var ordinals: [Ordinal] = []
    private(set) var text = ""

    init(_ state: State) {
        self.state = state
        for session in state.sessions.rows {
            guard let request = session.request else { continue }
            ordinals += [request.started] + (request.bidSince.map { [$0] } ?? [])
        }
        ordinals += state.cameras.rows.compactMap { $0.tenancy.held?.granted }
        ordinals.sort()
        text = "policy \(state.policy.source.hashValue)"
        for slot in state.cameraOrder {
            add("\n" + state.id(slot).name, state.cameras[slot])
            add("settings", state.cameraSettings[Int(slot.index)])
        }
        for slot in state.clientSlots.slots {
            add("\nclient", state.clients[slot])
            add("texts", state.clientTexts[Int(slot.index)])
        }
        for slot in state.sessionSlots.slots {
            add("\nsession", state.sessions[slot])
            add("settings", state.sessionSettings[Int(slot.index)])
        }
        addNamed()
        for child in Mirror(reflecting: state).children {
            guard let label = child.label, !Self.tables.contains(label), !Self.leftOut.contains("State.\(label)") else {
                continue
            }
            add("\n" + label, child.value)
        }
        addTimers()
    }

    /// Their rows are written one by one.
    private static let tables: Set = [
        "policy", "clients", "sessions", "cameras", "apps", "logins", "clientSlots", "sessionSlots", "appNames",
        "cameraNames", "loginNames", "cameraOrder", "clientTexts", "sessionSettings", "cameraSettings", "attributes",
        "timers",
    ]

    private static let leftOut: Set = [
        // Follows from the rest.
        "State.now", "State.users", "Camera.firstRequest", "Camera.place", "Camera.who", "Camera.position",
        "Client.who", "Client.loweredRank", "Client.hasLoweredItself", "Client.firstSession", "Client.nextOfApp",
        "Session.nextOnCamera", "Session.nextOfClient", "App.generation", "Side.firstClient", "Side.isInFront",
        "Side.attributes", "Side.requests", "Login.clients", "Client.right", "Side.word", "Machine.severalUsersAsk",
        "Machine.attributedApps", "Machine.mode", "State.carriedTexts",
        // Only counts, or names.
        "State.lastOrdinal", "State.generation", "Camera.grant", "Camera.handover", "Survivor.grant", "Ledger.sequence",
        "Ledger.interruptions", "Ledger.sharersTold", "Ledger.controllerTold", "Interruption.id", "Interruption.began",
        "Interruption.causes",
        "Interruption.recording", "Recording.cause", "Recording.interrupter", "Ledger.decision", "Ledger.grant",
        "Ledger.photo", "Ledger.lastRecording", "Recording.id", "Photo.id", "Ledger.lastQuestion", "Ledger.questions",
        "AppWord.origin",
        // History.
        "Held.since",
    ]

    /// Only their presence counts.
    private static let numbers: Set = ["announced", "recording", "endedBy"]

    private mutating func add(_ label: String, _ value: Any) {
        text += " \(label)="
        add(value, label)
    }

    private mutating func add(_ value: Any, _ label: String) {
        switch value {
        case let moment as Moment: text += "\(distance(moment))"
        case let slot as Slot<Session>: text += "\(state.id(slot).rawValue)"
        case let slot as Slot<Client>: text += "\(state.id(slot).rawValue)"
        case let slot as Slot<Camera>: text += state.id(slot).name
        case let slot as Slot<App>: text += "\(state.id(slot))"
        case let slot as Slot<Login>: text += state.id(slot).name
        case let app as AppRef: text += state.isThere(app) ? "\(state.id(app))\(app.isClaimed)" : "gone"
        case let rule as Rule: text += state.text(rule)
        case let held as Held: addMembers(of: held, "Held", streaming: streaming(held), used: used(held))
        case let number as UInt64 where Self.numbers.contains(label): text += number == 0 ? "" : "one"
        case let ordinal as UInt64 where ["started", "bidSince", "granted"].contains(label):
            text += "\(ordinals.firstIndex(of: ordinal) ?? -1)"
        default: addMembers(of: value, "\(type(of: value))")
        }
    }

    private mutating func addMembers(of value: Any, _ type: String, streaming: Int64? = nil, used: Int64? = nil) {
        let mirror = Mirror(reflecting: value)
        if mirror.children.isEmpty, mirror.displayStyle != .collection {
            text += "\(value)"
            return
        }
        if case .optional? = mirror.displayStyle {
            for child in mirror.children { add(child.value, "") }
            return
        }
        if case .enum? = mirror.displayStyle { text += mirror.children.first?.label ?? "" }
        text += "("
        for child in mirror.children {
            let label = child.label ?? ""
            if Self.leftOut.contains("\(type).\(label)") { continue }
            switch (type, label) {
            case ("Held", "streamingSince"): text += streaming.map { " streaming \($0)" } ?? ""
            case ("Held", "leaseSince"): text += used.map { " used \($0)" } ?? ""
            case ("Held", "minHoldUntil"):
                if let until = child.value as? Moment, until > state.now { add(label, until) }
            default:
                text += " \(label)="
                // Under the label of the property, and not of the optional.
                let inside = Mirror(reflecting: child.value)
                if inside.displayStyle == .optional, let some = inside.children.first {
                    add(some.value, label)
                } else {
                    add(child.value, label)
                }
            }
        }
        text += ")"
    }

    private func distance(_ moment: Moment) -> Int64 {
        moment == .distantFuture ? -1 : max(0, (moment - state.now).wholeNanoseconds)
    }

    /// How long it has streamed counts until faults are forgotten.
    private func streaming(_ held: Held) -> Int64? {
        let session = state.sessions[held.session]
        guard session.deaths > 0 || state.cameras[session.camera].faults > 0 else { return nil }
        return held.streamingSince.map { min(state.now - $0, Bound.steady).wholeNanoseconds }
    }

    /// The used part of a lease: banked, and since.
    private func used(_ held: Held) -> Int64? {
        guard held.leaseSince != nil else { return nil }
        let session = state.sessions[held.session]
        let app = state.clients[session.client].app
        let banked = state.timers.filter { $0.kind == .leaseUsed && $0.app == app && $0.camera == session.camera }
        return state.used(held.leaseUsed(by: state.now, banked: banked.first?.amount ?? 0))
    }

    private mutating func addTimers() {
        var lines: [String] = []
        for timer in state.timers {
            if timer.kind == .leaseUsed, let camera = timer.camera, let held = state.cameras[camera].tenancy.held,
                held.leaseSince != nil, state.clients[state.sessions[held.session].client].app == timer.app
            {
                continue
            }
            var timer = timer
            if timer.kind == .leaseUsed { timer.amount = state.used(timer.amount) }
            let before = text
            text = ""
            add("timer", timer)
            lines.append(text)
            text = before
        }
        text += "\n" + lines.sorted().joined(separator: "\n")
    }

    /// Words about apps and login sessions.
    private mutating func addNamed() {
        var lines: [String] = []
        let before = text
        for row in state.apps.rows.indices {
            guard state.isNamed(Slot(row)), state.word(of: Slot(row)) != 0 || state.apps.rows[row].isAttributed
            else { continue }
            text = "\n\(state.id(Slot<App>(row)))"
            add("said", state.apps.rows[row])
            add("attributes", state.attributes[row])
            for user in state.users {
                text += user.focusOfShell == Slot(row) ? " shell" : user.focusOfAgent == Slot(row) ? " agent" : ""
            }
            lines.append(text)
        }
        for row in state.logins.rows.indices where state.logins.rows[row].mark != 0 {
            text = "\n\(state.id(Slot<Login>(row)).name)"
            add("login", state.logins.rows[row])
            lines.append(text)
        }
        text = before + lines.sorted().joined()
    }
}

/// Checks that two states have one fingerprint if and only if they are equal, so that no property is forgotten.
struct FingerprintCheck {
    private var fingerprints: [Whole: Fingerprint] = [:]
    private var known: Set<Fingerprint> = []

    private struct Whole: Hashable {
        var arbiter: String
        var checker: ContractMonitor
        var duties: RecorderDuties
    }

    mutating func problem(_ state: ExploredState, _ fingerprint: Fingerprint) -> String? {
        let whole = Whole(arbiter: StateText(state.arbiter.state).text, checker: state.checker, duties: state.duties)
        if let before = fingerprints[whole] { return before == fingerprint ? nil : "a state has two fingerprints" }
        fingerprints[whole] = fingerprint
        return known.insert(fingerprint).inserted ? nil : "two states that differ have one fingerprint"
    }
}
