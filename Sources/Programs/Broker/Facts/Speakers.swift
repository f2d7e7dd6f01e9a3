package import ArbiterProtocol
package import System

/// Which client speaks for a user's desktop: one for each role and user, and one shell of root's for everybody.
///
///     nobody ──first──▶ one speaks ──the policy's unit, or root──▶ that one speaks, and the other is notified
///                          │ ▲
///                          └─┘ anybody else is refused
///
/// A shell's reports decide which of a user's apps has the camera, so not every program of that user's may be it. A
/// policy names the right program by its unit (`[shell] unit`, `[agent] unit`): that one displaces whichever was there
/// first, so that none can lock it out, and while a unit is named no app and no sandbox speaks at all. Where none is
/// named, the first client keeps the role. Root always may, and displaces. A client that asks the user may run in a
/// terminal, also where units are named: it receives questions, and reports nothing of apps.
///
/// This decides who may *speak*, which depends on identity, at this edge; the core decides by the reports. It has no connection
/// and no clock.
package struct Speakers {
    package enum Role: String, Hashable, Sendable, CaseIterable {
        /// Places apps, from the compositor.
        case shell
        /// The same, from the user's `camagent`.
        case agent
        /// Reports microphones, which a user's agent may know without knowing where any app is.
        case microphones
        case ask
    }

    package struct Slot: Hashable, Sendable {
        package var role: Role
        /// `nil` for every user.
        package var user: UInt32?

        package init(_ role: Role, user: UInt32?) { (self.role, self.user) = (role, user) }

        /// `shell of user 1000`.
        package var words: String {
            let whose = user.map { "of user \($0)" } ?? "of everybody"
            return switch role {
            case .shell: "shell \(whose)"
            case .agent: "agent \(whose)"
            case .microphones: "client that knows the microphones \(whose)"
            case .ask: "client that asks about the apps \(whose)"
            }
        }
    }

    package struct Speaker: Hashable, Sendable {
        package var client: ClientID
        package var process: Int32
        package var user: UInt32
        package var name: String
        package var origin: Origin

        package init(client: ClientID, process: Int32, user: UInt32, name: String, origin: Origin) {
            (self.client, self.process, self.user, self.name, self.origin) = (client, process, user, name, origin)
        }

        package var words: String { "process \(process) (\(name))" }
    }

    package enum Answer: Hashable, Sendable {
        case speaks
        /// It may take the slot, and the present speaker leaves it.
        case mayDisplacing(Speaker?)
        case refused(String)
    }

    private var assigned: [Slot: Speaker] = [:]

    package init() {}

    package func answer(_ speaker: Speaker, _ slot: Slot, units: [String]) -> Answer {
        let present = assigned[slot]
        if present?.client == speaker.client { return .speaks }
        if speaker.user == 0 || (Self.isNamed(speaker, units) && !Self.isUnmoved(present, units)) {
            return .mayDisplacing(present)
        }
        if Self.isShutOut(speaker, slot, units) {
            return .refused(
                "An app or a sandbox does not speak as the \(slot.words) while the policy names a unit for it "
                    + "(\(units.joined(separator: ", "))).")
        }
        guard let present else { return .mayDisplacing(nil) }
        return .refused("\(present.words.capitalizedFirst) speaks as the \(slot.words) already.")
    }

    private static func isNamed(_ speaker: Speaker, _ units: [String]) -> Bool {
        speaker.origin.unit.map(units.contains) ?? false
    }

    /// Only root displaces a speaker that the policy names too, or root itself.
    private static func isUnmoved(_ present: Speaker?, _ units: [String]) -> Bool {
        guard let present else { return false }
        return present.user == 0 || isNamed(present, units)
    }

    /// The role that asks gives a person's word, which may come from a terminal; sandboxes are refused elsewhere.
    private static func isShutOut(_ speaker: Speaker, _ slot: Slot, _ units: [String]) -> Bool {
        slot.role != .ask && speaker.user != 0 && !units.isEmpty && speaker.origin.isApp && !isNamed(speaker, units)
    }

    package mutating func assign(_ speaker: Speaker, to slot: Slot) { assigned[slot] = speaker }

    package mutating func leave(_ client: ClientID, _ slot: Slot) {
        if assigned[slot]?.client == client { assigned[slot] = nil }
    }

    package var isEmpty: Bool { assigned.isEmpty }
    package func speaker(in slot: Slot) -> Speaker? { assigned[slot] }
    package func isTaken(_ slot: Slot) -> Bool { assigned[slot] != nil }

    /// Whether a client reports facts of a user's desktop: in any role but `ask`.
    package func speaks(_ client: ClientID, for user: UInt32) -> Bool {
        Role.allCases.contains { role in
            role != .ask && [user, nil].contains { assigned[Slot(role, user: $0)]?.client == client }
        }
    }

    /// By role, the one for everybody first, then by user.
    package var all: [(slot: Slot, speaker: Speaker)] {
        func order(_ slot: Slot) -> (Int, Int64) {
            (Role.allCases.firstIndex(of: slot.role) ?? 0, slot.user.map(Int64.init) ?? -1)
        }
        return assigned.sorted { order($0.key) < order($1.key) }.map { ($0.key, $0.value) }
    }

    /// The speakers that may not speak under the units that a policy names now, in the order of `all`.
    package func shutOut(units: (Role) -> [String]) -> [(slot: Slot, speaker: Speaker)] {
        all.filter { Self.isShutOut($0.speaker, $0.slot, units($0.slot.role)) }
    }
}

extension Speakers {
    /// Where a process was started, as far as that shows whether it is an app.
    package struct Origin: Hashable, Sendable {
        /// The system's service that it is, or the unit of its own user's manager.
        package var unit: String?
        package var isApp: Bool

        package init(unit: String?, isApp: Bool) {
            (self.unit, self.isApp) = (unit, isApp)
        }

        /// A user can move his own processes among his own manager's units. What runs in a sandbox cannot, and what is
        /// started the ordinary way is where it was started.
        package init(_ group: ControlGroup, user: UInt32) {
            // A terminal's child is in a slice of that name.
            func isApp(_ name: String) -> Bool { AppIdentity.appPrefixes.contains(where: name.hasPrefix) }
            if let own = group.userUnit {
                self.init(
                    unit: own.user == user ? own.name : nil,
                    isApp: group.isSandbox || isApp(own.name) || own.slices.contains(where: isApp))
            } else if let unit = group.unit {
                self.init(unit: group.isVouchedService ? unit : nil, isApp: group.isSandbox || isApp(unit))
            } else {
                self.init(unit: nil, isApp: false)
            }
        }
    }
}

extension String { fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() } }
