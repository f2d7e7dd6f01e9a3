import Arbiter
import ArbiterProtocol
import Bus
import Explain
import Scenario
import System

/// How an app's sessions stand now, and why: what a decision of long ago, or none, has to do with it.
extension Inquiries {
    /// Sessions that one answer is about: an app has one or two.
    private static let standingsMax = 16

    /// - Parameter name: an app's, alone or with its user behind an `@`; or a session's.
    func explain(app name: String, _ request: Request) throws(BrokerError) {
        guard name.utf8.count <= ClientBound.textBytesMax else {
            throw BrokerError(
                .limitExceeded, "The name has \(name.utf8.count) bytes; it may have \(ClientBound.textBytesMax).")
        }
        let client = request.client
        try ask(request) { [self] in
            let (arbiter, now) = (broker.arbiter, Broker.now())
            let session = broker.publisher.names().session(name)
            let (uid, isTrusted) = (client.uid, trust.isTrusted(client))
            return { () -> [Standing] in
                let time = ProcessorTime(Self.explainTimeMax)
                var left = Self.standingsMax
                return arbiter.standings(
                    where: { id, app in
                        guard left > 0, isTrusted || app.user == uid else { return false }
                        guard id == session || app.name == name || "\(app.name)@\(app.user)" == name else {
                            return false
                        }
                        left -= 1
                        return true
                    }, at: now, while: { time.isLeft })
            }
        } answer: { [self] (standings) throws(BrokerError) in
            try answer(standings, name, for: client)
        }
    }

    private func answer(
        _ standings: [Standing], _ name: String, for client: BrokerClient
    ) throws(BrokerError) -> [WireValue] {
        guard !standings.isEmpty else {
            throw BrokerError(
                .unknownSession, "No app or session of yours that asks for a camera now is called “\(name)”.")
        }
        let summary = ["How \(name) stands now"] + standings.map { line($0.verdict, client) }
        return [.string(summary.joined(separator: "\n")), .dictionaries(standings.map { wire($0, client) })]
    }

    private func wire(_ standing: Standing, _ client: BrokerClient) -> WireDictionary {
        var wire = wire(standing.verdict, of: nil, client)
        wire["camera"] = .string(standing.camera.name)
        wire["since"] = .int64(standing.since.map(Desktops.realTime) ?? 0)
        wire["hasWon"] = .boolean(standing.hasWon)
        wire["limits"] = .dictionaries(
            standing.limits.map { limit in
                [
                    "kind": .string(limit.kind.rawValue), "until": .int64(Desktops.realTime(limit.until)),
                    "app": .string(limit.app.map { trust.shown($0, to: client).description } ?? ""),
                    "rule": .string(limit.rule),
                ]
            })
        return wire
    }
}
