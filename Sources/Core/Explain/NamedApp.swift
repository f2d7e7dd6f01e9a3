import Arbiter
import Vocabulary

/// An app as the edge calls it. Two may bear one name: the one that the kernel vouches for, and one that only claims it.
struct NamedApp: Hashable, Comparable {
    let id: AppID
    let isClaimed: Bool

    static func < (a: NamedApp, b: NamedApp) -> Bool { a.id != b.id ? a.id < b.id : !a.isClaimed && b.isClaimed }
}

/// The source that says where an app is, and so could say otherwise.
enum Speaker: Hashable {
    /// A shell or an agent, by the app's name.
    case source(PresenceSource)
    /// The app itself, through one of its clients.
    case client(ClientID)
}

extension State {
    func name(_ app: AppRef) -> NamedApp { NamedApp(id: id(app), isClaimed: app.isClaimed) }
    func app(_ name: NamedApp) -> AppRef? { app(name.id).map { ref($0, isClaimed: name.isClaimed) } }

    func speaker(for name: NamedApp) -> Speaker? {
        let app = app(name)
        for source in policy.source.sources {
            switch source {
            case .shell, .agent:
                guard isAttached(source, for: name.id.user) else { continue }
                // One that only claims the name hears nothing that is said by it while the other is there.
                return app.map(isReached) ?? true ? .source(source) : nil
            case .selfDeclared: if let client = app.flatMap({ clients(of: $0).first }) { return .client(id(client)) }
            case .loginSession: return nil
            }
        }
        return nil
    }

    /// The source that spoke for a user, and has left: a shell or an agent that came back could say where apps are.
    func goneSource(for user: UInt32) -> (source: PresenceSource, user: UInt32?)? {
        for source in policy.source.sources {
            let kind = sources.filter { $0.kind == source && ($0.user ?? user) == user }
            if kind.contains(where: \.state.isAttached) { return nil }
            // Its own user's shell before the one of everybody.
            if let gone = kind.first(where: { $0.user != nil }) ?? kind.first { return (source, gone.user) }
        }
        return nil
    }

    /// The first source that was still to be believed for a moment, and no longer is in `after`.
    func source(silencedBefore after: State) -> PresenceSource? {
        sources.first { source in
            guard case .frozen = source.state else { return false }
            return after.sources.contains { one in
                if one.kind == source.kind, one.user == source.user, case .lost = one.state { true } else { false }
            }
        }?.kind
    }

    private func isAttached(_ source: PresenceSource, for user: UInt32) -> Bool {
        sources.contains { $0.isShell == (source == .shell) && ($0.user ?? user) == user && $0.state.isAttached }
    }
}
