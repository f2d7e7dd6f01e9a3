import Arbiter
import ArbiterProtocol
import Bus
import Explain
import System

/// What a user's desktop shows of cameras: the holder of each, since when, and which of its apps wait.
extension Desktops {
    func listUse(for client: BrokerClient) -> WireValue {
        let more = client.withMore()
        if !more.wantsUse {
            more.wantsUse = true
            useLists += 1
        }
        let waits = broker.arbiter.waits(of: client.uid)
        var list: [CameraUse] = []
        for link in broker.cameras.order {
            guard let camera = broker.arbiter.status(of: link.camera) else { continue }
            let holder =
                camera.holderApp.map { broker.trust.shown($0, to: client) } ?? link.outside.map { .outside($0) }
            let waiting = waits.filter { $0.camera == link.camera }.prefix(Inquiries.companyMax)
            guard holder != nil || !waiting.isEmpty else { continue }
            let isOwn = camera.holderApp?.user == client.uid
            let isRecording = camera.holder.flatMap { broker.arbiter.status(of: $0)?.isRecording } ?? false
            list.append(
                CameraUse {
                    ($0.camera, $0.name, $0.holder) = (link.camera, camera.capabilities.name, holder)
                    ($0.isOwn, $0.isRecording) = (isOwn, isOwn && isRecording)
                    $0.since = camera.heldSince.map(Self.realTime)
                    $0.waiting = waiting.map { wait in
                        CameraUse.WaitingApp { ($0.app, $0.since) = (wait.app.name, Self.realTime(wait.since)) }
                    }
                })
        }
        return list.wireValue
    }

    /// A moment as a clock on the wall shows it, in microseconds.
    static func realTime(_ moment: Moment) -> Int64 {
        WallClock.microseconds - (Broker.now() - moment).wholeNanoseconds / 1000
    }

    /// What a step means for clients that show it: that use has changed, and that a recording was cut.
    func tell(_ event: Event, _ effects: [Effect]) {
        if speakers.isEmpty, useLists == 0 { return }
        var isOther = false
        switch event {
        // An app that waited and leaves is told nothing, and a user's own switch may concern no session.
        case .disconnected, .closed, .ownPrivacy: isOther = true
        default: break
        }
        for effect in effects {
            switch effect {
            case .announce(.holderChanged): isOther = true
            case .notify(_, let session, _, let notice):
                if notice.changesUse { isOther = true }
                if case .wasInterrupted(let told) = notice, told.recording != nil {
                    tellCut(session, told.causes, told.interrupter)
                }
            default: break
            }
        }
        if isOther { tellUseChanged() }
    }

    /// Once to each client that asked since it was last told.
    func tellUseChanged() {
        guard useLists > 0 else { return }
        for client in clients.values where client.more?.wantsUse == true && client.connection.isReady {
            client.more?.wantsUse = false
            useLists -= 1
            tellShell(client, "UseChanged", [])
        }
    }

    private func tellCut(_ session: SessionID, _ causes: CauseSet, _ interrupter: Interrupter?) {
        guard let app = clients.owner(of: session)?.app, let status = broker.arbiter.status(of: session),
            let cause = causes.reason
        else { return }
        let cut = RecordingCut {
            ($0.app, $0.camera, $0.interrupter, $0.cause) = (app.name, status.camera, interrupter, cause)
        }
        for client in speaking(for: app.user) { tellShell(client, "RecordingCut", cut.wireArguments) }
    }

    func speaking(for user: UInt32) -> [BrokerClient] {
        Set(speakers.all.filter { $0.seat.user == nil || $0.seat.user == user }.map(\.speaker.client)).sorted()
            .compactMap { clients[$0.rawValue] }
    }

    func tellShell(_ client: BrokerClient, _ member: String, _ arguments: [WireValue]) {
        client.connection.signal(path: ObjectPath.shell, interface: InterfaceName.shell, member: member, arguments)
    }
}

extension SessionEvent {
    fileprivate var changesUse: Bool {
        switch self {
        case .wasInterrupted, .interruptionChanged, .interruptionEnded, .sessionStopped, .recordingStarted,
            .recordingFinished:
            true
        default: false
        }
    }
}
