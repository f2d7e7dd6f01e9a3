import ArbiterProtocol
import ArgumentParser
import Camarb
import Workbench

struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say who holds what, who waits, and why.",
        discussion: "Examples:\n  camclient status\n  camclient status --json")

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let status = try await connection.ask { try await $0.status() }
        if output.json { return Output.line(status.json.text) }
        for line in status.lines { Output.line(line) }
    }
}

extension BrokerStatus {
    var lines: [String] {
        var lines = [
            "camarbd \(version.printable), policy \(policy.printable), \(decision) decision\(decision == 1 ? "" : "s")"
        ]
        if !policyHash.isEmpty { lines.append("policy hash \(policyHash.printable)") }
        if !policyByHand.isEmpty { lines.append("the policy is \(policyByHand.printable)") }
        if !degraded.isEmpty {
            // A wrong policy's problems have lines of their own, and carets that stand under their words.
            let lined = degraded.printableLines.split(separator: "\n", omittingEmptySubsequences: false)
            lines.append("degraded: \(lined.joined(separator: "\n  "))")
        }
        lines += placementLines
        if !unknown.isEmpty {
            let facts = unknown.map(\.rawValue).joined(separator: ", ")
            lines.append(
                "not known: \(facts), because no shell and no camagent tells the broker (camagent --print shows what one sees)"
            )
        }
        lines += speakers.flatMap(\.lines)
        if !loginSessionsUnknown.isEmpty {
            lines.append("login sessions are not known: \(loginSessionsUnknown.printable)")
            lines.append(
                "  so nobody has a camera by sitting at its seat: only root and those that the policy's [access] names")
        }
        // Those that come and go at a machine's screen; a server may have hundreds of the others.
        lines += loginSessions.filter { !$0.seat.isEmpty }.map(\.line)
        let others = loginSessions.count { $0.seat.isEmpty }
        if others > 0 { lines.append("login sessions without a seat: \(others)") }
        if isPrivate { lines.append("the privacy switch of the machine is on: no app has a camera") }
        if isOwnPrivate { lines.append("your own privacy switch is on: none of your apps has a camera") }
        if isAsleep { lines.append("the machine sleeps, or is about to: no app has a camera") }
        if pressure != .nominal { lines.append("pressure is \(pressure.wireName)\(pressureReason)") }
        if !pressureTrouble.isEmpty {
            lines.append("pressure is not measured: \(pressureTrouble.printable)")
        }
        lines += modeLines
        if let app = override {
            let trouble = overrideTrouble.isEmpty ? "" : ", and nothing comes of it: \(overrideTrouble.printable)"
            lines.append("the operator has chosen \(app.description.printable)\(trouble)")
        }
        lines += ["", "cameras"]
        for camera in cameras {
            let who = camera.holder.map { "held by \($0.description.printable)" } ?? ""
            let state = camera.present ? camera.tenancy.rawValue : "unplugged"
            var words = ["\(camera.camera.name.printable)  \(state)", who]
            if let bypass = camera.bypass { words.append("bypassable: \(bypass.printable)") }
            if let outside = camera.outside { words.append("held outside the broker by \(outside.printable)") }
            if let program = camera.openIn { words.append("open in \(program.printable)") }
            if let fault = camera.fault { words.append("it failed: \(fault.printable)") }
            if let why = camera.unwatched { words.append("not watched: \(why.printable)") }
            if camera.isPrivate { words.append("the privacy switch is on") }
            if !camera.waiting.isEmpty { words.append("waiting: \(camera.waitingWords)") }
            if !camera.sharers.isEmpty {
                words.append("watching: \(camera.sharers.map(\.description.printable).joined(separator: ", "))")
            }
            lines.append("  " + words.filter { !$0.isEmpty }.joined(separator: "; "))
        }
        if cameras.isEmpty { lines.append("  none") }
        lines += ["", "sessions"]
        lines += columns(
            sessions.map { session in
                [
                    "  \(session.session.rawValue)", session.app.description.printable, session.camera.name.printable,
                    session.words,
                    // What else there is of it is not for this user.
                    session.app == .anotherUsersApp
                        ? "" : session.presence.wireName + (session.focused ? ", focused" : ""),
                    session.rank.isEmpty ? "" : "rank \(session.rank.printable)", session.isWeak ? "weak identity" : "",
                    session.right == "none" ? "no right to the camera" : "",
                ]
            })
        if sessions.isEmpty { lines.append("  none") }
        return lines
    }

    /// Where no source says where apps are: what counts instead.
    private var placementLines: [String] {
        // An older broker says only whether any source does.
        guard !placements.isEmpty else { return presenceKnown ? [] : [PresenceStanding.nobody.words ?? ""] }
        return placements.compactMap { placement in
            placement.standing.words.map { placements.count == 1 ? $0 : "user \(placement.user): \($0)" }
        }
    }

    /// The machine's mode, and the calendar's word where that is another one.
    private var modeLines: [String] {
        let until = calendarUntil.isEmpty ? "" : " until \(calendarUntil.printable)"
        let isByHand = !modeSetBy.isEmpty
        var lines: [String] = []
        if !mode.isEmpty {
            let setter = modeSetBy == "root" ? "root" : "the operator"
            let why = isByHand ? ", as \(setter) set it" : ", by the calendar\(until)"
            lines.append("the mode is \(mode.printable)\(why)")
        }
        if isByHand, !calendarMode.isEmpty {
            lines.append("the calendar says \(calendarMode.printable)\(until), and counts when the mode is taken back")
        }
        return lines
    }

    /// Whose word it is that pressure is as it is.
    private var pressureReason: String {
        if let measured = pressureMeasured, measured >= pressure { return ": \(pressureWhy.printable)" }
        if pressureSaid >= pressure { return ", as a shell says" }
        return ", which has passed and counts a little longer"
    }
}

extension PresenceStanding {
    /// Nil: somebody says where apps are.
    fileprivate var words: String? {
        switch self {
        case .told: nil
        case .kept:
            "the source of presence has left: what it said holds a few seconds longer, then every app counts as background"
        case .lost:
            "the source of presence has left: every app counts as background until a shell or a camagent says otherwise"
        case .login: "no presence source tells windows apart: apps of an active login session count as foreground"
        case .nobody: "no presence source: every app counts as foreground"
        }
    }
}

extension SpeakerStatus {
    fileprivate var lines: [String] {
        let whose = user.map { "user \($0)" } ?? "everybody"
        var words = ["\(role.printable) of \(whose): \(app.description.printable)"]
        if process != 0 { words.append("process \(process)") }
        if !unit.isEmpty { words.append("unit \(unit.printable)") }
        if isWeak { words.append("weak identity") }
        let line = words.joined(separator: ", ")
        if source.isEmpty { return [line] }
        return [line, "windows of \(whose): known from \(source.printable), told by \(app.description.printable)"]
    }
}

extension LoginSessionStatus {
    fileprivate var line: String {
        var words = ["login session \(id.printable) of user \(user) on \(seat.printable)"]
        words.append(isActive ? "is active" : "is not active")
        if isLocked { words.append("and locked") }
        if isRemote { words.append("(remote)") }
        return words.joined(separator: " ")
    }
}

extension SessionStatus {
    fileprivate var words: String {
        var words = state.rawValue
        switch state {
        case .interrupted where causes.contains(.videoDeviceBlockedByPrivacy):
            // Somebody's will, and nothing that passes by itself; what else there is comes after it.
            let others = causes.ordered.filter { $0 != .videoDeviceBlockedByPrivacy }.map(\.shortName)
            words = "switched off (privacy)"
            if !others.isEmpty { words += ", and interrupted: \(others.joined(separator: ", "))" }
        case .interrupted: words += ": \(causes.ordered.map(\.shortName).joined(separator: ", "))"
        case .restricted: words += " to \(access.names.joined(separator: ", "))"
        case .stopped, .running: break
        }
        if let recording { words += ", recording \(recording)" }
        if !rule.isEmpty { words += " because “\(rule.printable)”" }
        return words
    }
}

extension CameraStatus {
    /// Each app once, with how many of its sessions wait, first in line first; the holder's own app is no other one.
    fileprivate var waitingWords: String {
        var counts: [(app: Interrupter, count: Int)] = []
        for app in waiting {
            if let place = counts.firstIndex(where: { $0.app == app }) {
                counts[place].count += 1
            } else {
                counts.append((app, 1))
            }
        }
        return counts.map { app, count in
            let name = app.description.printable
            // Another user's apps all have this one name.
            if app == holder, app != .anotherUsersApp {
                return count == 1 ? "another session of \(name)" : "\(count) other sessions of \(name)"
            }
            return count == 1 ? name : "\(name) (\(count) sessions)"
        }
        .joined(separator: ", ")
    }
}
