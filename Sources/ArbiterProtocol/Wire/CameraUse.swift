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
}

extension CameraUse {
    /// Reads the form that it has on the wire.
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
