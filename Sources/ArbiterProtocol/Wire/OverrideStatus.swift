public import Vocabulary

/// The operator's choice of an app by hand (`Shell1.Override`).
public struct OverrideStatus: Hashable, Sendable {
    /// Nil: no app is chosen.
    public var app: Interrupter?
    /// Why nothing comes of it as things are, as a sentence without its end, for who is trusted; empty where something may.
    public var trouble: String

    public init(app: Interrupter? = nil, trouble: String = "") {
        self.app = app
        self.trouble = trouble
    }
}

extension OverrideStatus {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("override", app?.wireName ?? "")
        entries.add("overrideTrouble", trouble)
    }

    /// An older broker does not say it.
    init(_ fields: WireFields) throws(BrokerError) {
        self.init()
        guard fields.has("override") else { return }
        app = Interrupter(wireName: try fields.string("override"))
        trouble = try fields.string("overrideTrouble")
    }
}
