import Arbiter
import ArbiterProtocol
import Explain
import System

/// A client's way from one broker to the next: a secret from this one, shown to that one.
final class Reclaiming: BrokerPart {
    /// `GetReclaimSecret`: the grant outlives this broker from here on, and the client that shows the secret to the
    /// next goes on with it.
    func giveReclaimSecret(_ session: SessionID, _ request: Request) throws(BrokerError) {
        let client = request.client
        try clients.requireSameProcess(client)
        guard let app = client.app, let held = holding(session) else {
            throw BrokerError(
                .notRunning,
                "Session \(session.rawValue) holds no camera that streams; whoever does can go on with it after a restart."
            )
        }
        request.answerLater()
        held.link.keep(held.grant, for: session, of: client, app) { [self] result in
            do throws(BrokerError) {
                try result.get()
                guard !client.isGone, let now = holding(session), now.link === held.link, now.grant == held.grant else {
                    throw BrokerError(.notRunning, "Session \(session.rawValue) has lost the camera.")
                }
                let secret: ReclaimSecret
                do throws(SystemFault) { secret = try ReclaimSecret() } catch {
                    throw BrokerError(.outOfResources, "\(error).")
                }
                // Written down first: what a client was told holds.
                broker.store?.change(held.link.camera) { $0.secret = secret }
                request.answer([.string(secret.digits)])
            } catch { request.answer(error) }
        }
    }

    private func holding(_ session: SessionID) -> (link: CameraLink, grant: GrantID)? {
        guard let status = broker.arbiter.status(of: session), status.isHolder, let link = cameras[status.camera],
            let grant = link.grant, broker.arbiter.status(of: status.camera)?.tenancy == .streaming
        else { return nil }
        return (link, grant)
    }

    /// One sentence whatever was wrong: it tells a thief nothing.
    private static let nothingToReclaim = BrokerError(
        .staleGrant, "There is nothing to reclaim with this secret for this session; StartRunning starts anew.")

    /// `Reclaim`: in place of `StartRunning`. The secret is compared before anything is known of the asker, and only
    /// the app that it was given to uses it up.
    func reclaim(_ session: SessionID, _ secret: String, _ request: Request) throws(BrokerError) {
        try clients.requireSameProcess(request.client)
        guard let shown = ReclaimSecret(secret), let app = request.client.app,
            let status = broker.arbiter.status(of: session), let link = cameras[status.camera],
            let survivor = link.reclaim(shown, as: app)
        else { throw Self.nothingToReclaim }
        broker.decide(.reclaimed(session, survivor.kept.grant), request)
        // What the recorder core has of it since the broker before: said once more, and nothing is to be done for it.
        if let format = survivor.kept.microphone { broker.step(.attachMicrophone(session, format)) }
        if survivor.kept.recording?.isPaused == true { broker.step(.pauseRecording(session)) }
        // It ended before anybody could be told.
        if let end = survivor.recordingEnd { broker.step(end) }
    }
}

extension CameraLink {
    func tellReserved(_ app: AppID, _ survivor: GrantSurvival.Survivor?) {
        broker.step(
            .reserved(
                camera, app,
                survivor: survivor.map { Survivor(grant: $0.kept.grant, recording: $0.kept.recording?.id) }))
    }
}

extension SessionEvent {
    var endsRunning: Bool {
        switch self {
        case .didStopRunning, .sessionStopped, .wasInterrupted: true
        default: false
        }
    }
}
