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
        waiting: [Interrupter] = [], sharers: [Interrupter] = [], outside: String? = nil, openIn: String? = nil,
        unwatched: String? = nil, bypass: String? = nil, fault: String? = nil
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
        self.init(
            camera: CameraID(try fields.string("id")), name: try fields.string("name"),
            position: try fields.word("position"), present: try fields.boolean("present"),
            isPrivate: try fields.boolean("privacy"), generation: try fields.uint64("generation"),
            tenancy: try fields.word("tenancy"), holder: Interrupter(wireName: try fields.string("holder")),
            session: session == 0 ? nil : SessionID(session),
            waiting: try fields.strings("waiting").compactMap(Interrupter.init(wireName:)),
            sharers: try fields.strings("sharers").compactMap(Interrupter.init(wireName:)),
            outside: try fields.anyString("outside"), openIn: try fields.anyString("openIn"),
            unwatched: try fields.anyString("unwatched"), bypass: try fields.anyString("bypass"),
            fault: fields.has("fault") ? try fields.anyString("fault") : nil)
    }
}

/// A camera that is in use, as its user's desktop shows it.
public struct CameraUse: Hashable, Sendable {
    public var camera: CameraID
    /// What a person calls it.
    public var name: String
    public var holder: Interrupter?
    /// The holder is an app of this user's.
    public var isOwn: Bool
    /// It records, as far as this user may know.
    public var isRecording: Bool
    /// When the holder got it, in microseconds of CLOCK_REALTIME; nil where nobody has it or it is not known.
    public var since: Int64?
    /// This user's own apps that wait for it, the longest first; at most 64.
    public var waiting: [WaitingApp]

    public struct WaitingApp: Hashable, Sendable {
        public var app: String
        /// In microseconds of CLOCK_REALTIME.
        public var since: Int64

        public init(app: String, since: Int64) {
            self.app = app
            self.since = since
        }
    }

    public init(
        camera: CameraID, name: String, holder: Interrupter? = nil, isOwn: Bool = false, isRecording: Bool = false,
        since: Int64? = nil, waiting: [WaitingApp] = []
    ) {
        self.camera = camera
        self.name = name
        self.holder = holder
        self.isOwn = isOwn
        self.isRecording = isRecording
        self.since = since
        self.waiting = waiting
    }

    package init(_ fields: WireFields, _ place: String) throws(BrokerError) {
        camera = CameraID(try fields.string("camera"))
        name = try fields.string("name")
        holder = Interrupter(wireName: try fields.string("holder"))
        isOwn = try fields.boolean("own")
        isRecording = try fields.boolean("recording")
        let since = try fields.int64("since")
        self.since = since > 0 ? since : nil
        waiting = []
        for (index, wire) in try fields.dictionaries("waiting").enumerated() {
            let app = WireFields("\(place).waiting[\(index)]", wire)
            waiting.append(WaitingApp(app: try app.string("app"), since: try app.int64("since")))
        }
    }
}
