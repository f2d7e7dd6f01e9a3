/// A stream in PipeWire through which a program listens.
public struct CaptureStream: Hashable, Sendable {
    public var node: UInt32
    /// The process that PipeWire took from its socket; nil when it has none.
    public var process: Int32?
    /// That process's user; nil when PipeWire does not say.
    public var user: UInt32?
    /// The process that the stream says it is of.
    public var claimedProcess: Int32?
    /// The process on the socket is PipeWire's server for PulseAudio's clients, and speaks for one of them.
    public var isRelayed: Bool
    /// It listens to what is played, or measures a level.
    public var isMonitor: Bool
    public var isRunning: Bool
    /// What the program calls itself, for people.
    public var name: String

    public init(
        node: UInt32, process: Int32?, user: UInt32? = nil, claimedProcess: Int32? = nil, isRelayed: Bool = false,
        isMonitor: Bool = false, isRunning: Bool = true, name: String = ""
    ) {
        self.node = node
        self.process = process
        self.user = user
        self.claimedProcess = claimedProcess
        self.isRelayed = isRelayed
        self.isMonitor = isMonitor
        self.isRunning = isRunning
        self.name = name
    }

    /// Samples of a microphone flow to the program now. A paused ("corked") stream leaves the microphone to others.
    public var usesMicrophone: Bool { isRunning && !isMonitor }

    /// The socket's word, which cannot be forged. A client of PulseAudio's has only its own claim: behind its stream is
    /// the server that relays it.
    public var believedProcess: Int32 { (isRelayed ? claimedProcess ?? process : process ?? claimedProcess) ?? 0 }

    /// Streams whose user nobody names are taken for this user's: it is this user's PipeWire.
    func isOf(_ user: UInt32) -> Bool { self.user == nil || self.user == user }
}
