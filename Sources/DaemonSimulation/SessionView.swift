import ArbiterProtocol

/// A session as its client knows it, from notices alone.
struct SessionView {
    let id: SessionID
    var camera: String
    var wantsToRun = false
    private(set) var isRunning = false
    /// Of its last start.
    private(set) var grant: UInt64 = 0
    private(set) var interruption: InterruptionID?
    private(set) var causes = CauseSet()
    private var sequence: UInt64 = 0

    init(id: SessionID, camera: String) {
        self.id = id
        self.camera = camera
    }

    /// - Returns: what is wrong about the notice here, in a sentence; nil: nothing.
    mutating func take(_ signal: SessionSignal) -> String? {
        sequence += 1
        guard signal.sequence == sequence else { return "number \(signal.sequence) came for number \(sequence)." }
        switch signal.event {
        case .wasInterrupted(let id, let causes, _, _, _):
            if let interruption { return "it is interrupted already, by number \(interruption)." }
            interruption = id
            self.causes = causes
        case .interruptionChanged(let id, let causes, _, _):
            guard id == interruption else { return "interruption \(id) is not the open one." }
            self.causes = causes
        case .interruptionEnded(let id, _, _, _, _):
            guard id == interruption else { return "interruption \(id) is not the open one." }
            interruption = nil
        case .didStartRunning(let grant):
            if isRunning { return "it runs already." }
            if let interruption { return "interruption \(interruption) has not ended." }
            isRunning = true
            self.grant = grant.rawValue
        case .didStopRunning:
            guard isRunning else { return "it did not run." }
            isRunning = false
        case .sessionStopped:
            if isRunning { return "it still runs." }
            interruption = nil
            wantsToRun = false
        default: break
        }
        return nil
    }
}
