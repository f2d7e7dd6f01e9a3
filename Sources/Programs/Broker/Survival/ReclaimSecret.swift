import Arbiter
import ArbiterProtocol
import CLinux
import Explain
package import System

/// With it a client reclaims its camera from another broker: 128 random bits, known to the client, the broker and the store.
/// Its description does not show it, so that it is in no journal, trace or error by mistake.
package struct ReclaimSecret: Sendable, CustomStringConvertible {
    static let byteCount = 16
    private let bytes: [UInt8]

    package init() throws(SystemFault) { bytes = try Self.random(Self.byteCount) }

    static func random(_ count: Int) throws(SystemFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = camarb_random(&bytes, count)
        guard result == 0 else { throw SystemFault("have random bytes", -result) }
        return bytes
    }

    /// - Returns: `nil` for anything but 32 hexadecimal digits in lower case.
    package init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Self.byteCount, digits.allSatisfy(\.isLowerHexDigit) else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    package var digits: String { Self.hexadecimal(bytes) }

    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Takes the same time wherever the bytes differ.
    package func equals(_ other: ReclaimSecret) -> Bool {
        var difference: UInt8 = 0
        for (one, another) in zip(bytes, other.bytes) { difference |= one ^ another }
        return difference == 0
    }

    package var description: String { "a secret" }
}

/// A client has a secret from one broker, and reclaims its grant with it from the next.
extension Broker {
    /// `GetReclaimSecret`: the grant outlives this broker from here on.
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
                // Written first, so that the client's secret counts.
                store?.change(held.link.camera) { $0.secret = secret }
                request.answer([.string(secret.digits)])
            } catch { request.answer(error) }
        }
    }

    private func holding(_ session: SessionID) -> (link: CameraLink, grant: GrantID)? {
        guard let status = arbiter.status(of: session), status.isHolder, let link = cameras[status.camera],
            let grant = link.grant, arbiter.status(of: status.camera)?.tenancy == .streaming
        else { return nil }
        return (link, grant)
    }

    /// One sentence for all faults, of which a thief learns nothing.
    private static let nothingToReclaim = BrokerError(
        .staleGrant, "There is nothing to reclaim with this secret for this session; StartRunning starts anew.")

    /// `Reclaim`, in place of `StartRunning`. Only the app that has the secret makes it void.
    func reclaim(_ session: SessionID, _ secret: String, _ request: Request) throws(BrokerError) {
        try clients.requireSameProcess(request.client)
        guard let shown = ReclaimSecret(secret), let app = request.client.app,
            let status = arbiter.status(of: session), let link = cameras[status.camera],
            let survivor = link.reclaim(shown, as: app)
        else { throw Self.nothingToReclaim }
        decide(.reclaimed(session, survivor.kept.grant), request)
        // The recorder core has these since the broker before: the core's orders for them have nothing to carry out.
        if let format = survivor.kept.microphone { step(.attachMicrophone(session, format)) }
        if survivor.kept.recording?.isPaused == true { step(.pauseRecording(session)) }
        // It ended before there was a client to notify.
        if let end = survivor.recordingEnd { step(end) }
    }
}
