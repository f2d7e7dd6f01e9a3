public import Arbiter
public import ArbiterProtocol
public import Explain

/// A run of steps without a gap: a header, its steps, its end. A file has several where a reader lost lines.
public struct TracePart: Sendable {
    public var file: String
    public var header: TraceHeader
    public var steps: [TraceStep]
    /// `nil` for a trace that was cut off.
    public var end: TraceEnd?
    package var sum: Checksum
    public var lastLine: Int
}

/// The state before a part's first step.
public struct TraceHeader: Sendable {
    public var line: Int
    /// With its version.
    public var program: String
    /// Scenarios made of the trace count time from here.
    public var origin: Moment
    /// The number of earlier steps.
    public var steps: UInt64
    /// The checksum of the file before.
    public var follows: String?
    public var policy: Policy
    /// From its writer (`Policy.hash`).
    public var policyHash = ""
    /// `nil` for a trace that begins with the broker.
    public var snapshot: Arbiter.Snapshot?
    public var clients: [ClientID: String] = [:]
    public var sessions: [SessionID: String] = [:]

    /// - Throws: the contradiction in the snapshot.
    public func arbiter() throws(Arbiter.BrokenSnapshot) -> Arbiter {
        guard let snapshot else { return Arbiter(policy: policy) }
        return try Arbiter(restoring: snapshot)
    }

    /// The journal's names.
    public func names(of arbiter: Arbiter) -> Names {
        var names = Names()
        for session in arbiter.status().sessions {
            if names.app(of: session.client) == nil {
                names.addClient(
                    clients[session.client] ?? names.freeClientName(session.app.name), app: session.app,
                    id: session.client)
            }
            names.addSession(
                sessions[session.id] ?? names.freeSessionName(names.name(of: session.client)), client: session.client,
                id: session.id)
        }
        return names
    }
}

public struct TraceStep: Sendable {
    public var line: Int
    public var number: UInt64
    public var moment: Moment
    public var event: Event
    /// Of the client or session that the event brings.
    public var name: String?
    public var decision: DecisionID
    package var body: ArraySlice<UInt8>
}

extension Names {
    /// Gives the event's client or session its name in the trace, or else a free one.
    package mutating func learn(_ step: TraceStep) {
        switch step.event {
        case .connected(let client, let app, _): addClient(step.name ?? freeClientName(app.name), app: app, id: client)
        case .created(let session, let client, _, _, _):
            addSession(step.name ?? freeSessionName(name(of: client)), client: client, id: session)
        default: break
        }
    }
}
