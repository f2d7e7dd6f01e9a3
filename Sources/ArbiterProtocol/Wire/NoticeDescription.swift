/// What is to be known of a notice to a session on the wire: the signal that carries it, with which arguments of which types
/// (introspection, `docs/wire.md`), how it is written, and how it is read.
package struct NoticeDescription: Sendable {
    package let kind: SessionEventKind
    package let summary: String
    private let field: NoticeField<SessionEvent>
    /// Of all that the signal carries.
    package let signature: String

    /// - Parameters:
    ///   - make: the notice's own case.
    ///   - fields: one for each of its values, in their order.
    ///   - take: the notice's values; nil: it is another one.
    init<each Value: Sendable>(
        _ kind: SessionEventKind, _ summary: String, _ make: @escaping @Sendable (repeat each Value) -> SessionEvent,
        _ fields: repeat NoticeField<each Value>, take: @escaping @Sendable (SessionEvent) -> (repeat each Value)?
    ) {
        self.kind = kind
        self.summary = summary
        field = NoticeField(make, repeat each fields, take: take)
        signature = (Self.head + field.carries).map(\.type).joined()
    }

    /// What every notice begins with: its place in the session's order, and the decision it came from.
    private static let head = [Interface.Argument("sequence", "t"), Interface.Argument("decision", "t")]

    package var signal: Interface.Signal { Interface.Signal(kind.rawValue, Self.head + field.carries, summary) }

    /// Says each argument behind sequence and decision, with its name.
    package func forEachValue(of notice: SessionEvent, _ say: (String, WireValue) -> Void) { field.write(notice, say) }

    /// Reads what follows sequence and decision.
    func read(_ reader: inout WireReader) throws(BrokerError) -> SessionEvent { try field.read(&reader) }

    // MARK: The table

    /// In the order of `SessionEventKind`.
    package static let all: [NoticeDescription] = {
        let described = interruptions + running + outputs
        return SessionEventKind.allCases.map { kind in
            let found = described.filter { $0.kind == kind }
            guard let description = found.first, found.count == 1 else {
                preconditionFailure("\(kind) is described \(found.count) times")
            }
            return description
        }
    }()

    private static let byKind: [SessionEventKind: NoticeDescription] = Dictionary(
        uniqueKeysWithValues: all.map { ($0.kind, $0) })

    package static func of(_ kind: SessionEventKind) -> NoticeDescription {
        guard let description = byKind[kind] else { preconditionFailure("\(kind) is not described") }
        return description
    }
}
