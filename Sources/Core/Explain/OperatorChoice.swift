public import Arbiter
public import Vocabulary

/// The app that the operator has chosen by hand.
public struct OperatorChoice: Hashable, Sendable {
    public var app: AppID
    /// Why nothing comes of it as things are, as a sentence without its end; empty where something may.
    public var trouble: String
}

extension Arbiter {
    /// Nil: nobody is chosen.
    public func operatorChoice() -> OperatorChoice? {
        state.world.operatorChoice.map { OperatorChoice(app: state.id($0), trouble: trouble(ofChoice: $0)) }
    }

    private func trouble(ofChoice slot: Slot<App>) -> String {
        guard state.policy.reads.operatorChoice else { return "no rule of the policy asks for the operator's choice" }
        guard !state.apps[slot].isConnected else { return "" }
        let app = state.id(slot)
        let connected = state.namedApps.filter { state.apps[$0].isConnected }.map { state.id($0) }
        // Said by root, a name is that of root's own app.
        if let namesake = connected.first(where: { $0.name == app.name }) {
            return "no app named “\(app.name)” of user \(app.user) is connected; "
                + "did you mean “\(namesake.name)@\(namesake.user)”?"
        }
        let named = (policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)).compactMap(\.appName)
        guard !named.contains(app.name) else { return "" }
        let known = connected.map { $0.user == app.user ? $0.name : "\($0.name)@\($0.user)" } + named
        let guess = NearestWord.of(app.name, among: known).map { "; did you mean “\($0)”?" } ?? ""
        return "no app named “\(app.name)” is connected or named in the policy\(guess)"
    }
}

extension FactTest {
    package var appName: String? {
        switch self {
        case .app(let name), .claimedApp(let name): name
        default: nil
        }
    }
}
