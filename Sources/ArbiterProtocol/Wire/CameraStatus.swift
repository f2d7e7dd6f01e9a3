/// One camera in `BrokerStatus`.
public struct CameraStatus: Hashable, Sendable {
    public var camera: CameraID
    public var name: String
    public var position: CameraPosition
    public var present: Bool
    /// Its own privacy switch is on, or that of the machine.
    public var isPrivate: Bool
    /// Grows each time the camera appears.
    public var generation: UInt64
    public var tenancy: TenancyState
    /// The holder's app, as far as the asker may know it; nil when nobody holds the camera.
    public var holder: Interrupter?
    /// The holder's session, when it is of the asker's user.
    public var session: SessionID?
    /// The apps that wait, first in line first.
    public var waiting: [Interrupter]
    /// The apps that watch beside the holder.
    public var sharers: [Interrupter]
    /// A program that has the camera without asking the broker, as far as that can be known; nil: none has.
    public var outside: String?
    /// A program that merely has its node open, as far as that can be known; nil: none has.
    public var openIn: String?
    /// Why a program outside the broker would not be noticed before somebody asks; nil: it would, or the camera has no node.
    public var unwatched: String?
    /// What its device failed of last, in a sentence; nil: nothing since it last streamed.
    public var fault: String?
    /// Why apps can open the camera's node without asking the broker; nil: they cannot, or it has none.
    public var bypass: String?

    package init(
        camera: CameraID, name: String, position: CameraPosition, present: Bool, isPrivate: Bool = false,
        generation: UInt64, tenancy: TenancyState, holder: Interrupter? = nil, session: SessionID? = nil,
        waiting: [Interrupter] = [],
        sharers: [Interrupter] = [], outside: String? = nil, openIn: String? = nil, unwatched: String? = nil,
        bypass: String? = nil, fault: String? = nil
    ) {
        self.fault = fault
        self.outside = outside
        self.openIn = openIn
        self.unwatched = unwatched
        self.bypass = bypass
        self.camera = camera
        self.name = name
        self.position = position
        self.present = present
        self.isPrivate = isPrivate
        self.generation = generation
        self.tenancy = tenancy
        self.holder = holder
        self.session = session
        self.waiting = waiting
        self.sharers = sharers
    }
}

extension CameraStatus: WireRecord {
    package func addEntries(to entries: inout some WireEntries) {
        entries.add("id", camera.name)
        entries.add("name", name)
        entries.add("position", position.rawValue)
        entries.add("present", present)
        entries.add("privacy", isPrivate)
        entries.add("generation", generation)
        entries.add("tenancy", tenancy.rawValue)
        entries.add("holder", holder?.wireName ?? "")
        entries.add("session", session?.rawValue ?? 0)
        entries.add("waiting", waiting.map(\.wireName))
        entries.add("sharers", sharers.map(\.wireName))
        entries.add("outside", outside ?? "")
        entries.add("openIn", openIn ?? "")
        entries.add("unwatched", unwatched ?? "")
        entries.add("bypass", bypass ?? "")
        entries.add("fault", fault ?? "")
    }

    init(_ fields: WireFields) throws(BrokerError) {
        let session = try fields.uint64("session")
        let outside = try fields.string("outside")
        let openIn = try fields.string("openIn")
        let unwatched = try fields.string("unwatched")
        let bypass = try fields.string("bypass")
        let fault = fields.has("fault") ? try fields.string("fault") : ""
        self.init(
            camera: CameraID(try fields.string("id")), name: try fields.string("name"),
            position: try fields.word("position"), present: try fields.boolean("present"),
            isPrivate: try fields.boolean("privacy"), generation: try fields.uint64("generation"),
            tenancy: try fields.word("tenancy"),
            holder: Interrupter(wireName: try fields.string("holder")),
            session: session == 0 ? nil : SessionID(session),
            waiting: try fields.strings("waiting").compactMap(Interrupter.init(wireName:)),
            sharers: try fields.strings("sharers").compactMap(Interrupter.init(wireName:)),
            outside: outside.isEmpty ? nil : outside, openIn: openIn.isEmpty ? nil : openIn,
            unwatched: unwatched.isEmpty ? nil : unwatched, bypass: bypass.isEmpty ? nil : bypass,
            fault: fault.isEmpty ? nil : fault)
    }
}
