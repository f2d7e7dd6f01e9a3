import Arbiter
import Vocabulary

/// What could be otherwise with what is not there any more, or would better not be: a source that left, and apps that ask too.
extension Alternatives {
    /// In front, if the source that left were there and said so. In the background is where an app counts as being by now.
    func saidAgain(of app: NamedApp, _ facts: Facts, _ subject: Subject) -> [Supposition] {
        let readers: Set = ["presence", "foreground-apps", "layout", "focused"]
        guard !facts.presence.isForeground, !keys.isDisjoint(with: readers),
            let gone = state.goneSource(for: app.id.user), state.app(app).map(state.isReached) ?? true
        else { return [] }
        let alteration = Explanation.Alteration(
            of: subject, key: "presence", from: "\"background\"",
            to: "\"foreground\", as the \(gone.source.rawValue) that left could say")
        return [
            Supposition(
                alteration, .place(app), by: .sourceAttached(gone.source, user: gone.user),
                .placed(app.id, .foreground(.fullscreen), focused: false, by: gone.source))
        ]
    }

    /// Every app that asks for its camera, or one that cannot run beside it, with all its sessions there as they stop.
    var stops: [(app: NamedApp, events: [Event])] {
        let asking = contenders(oneOfEach: false)
        return contenders(oneOfEach: true).map { first in
            let app = state.clients[state.sessions[first].client].app
            let own = asking.filter { state.clients[state.sessions[$0].client].app == app }
            return (state.name(app), own.map { .stopRunning(state.id($0)) })
        }
    }
}
