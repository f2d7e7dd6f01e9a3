import ArbiterProtocol
import Glibc
public import System

/// camagent: observes a user's desktop, and reports to the broker.
///
///     a desktop▶ windows ───┐
///     PipeWire ▶ streams ───┼─▶ facts about apps ─▶ facts that are news to the broker ─▶ Shell1
///     broker ──▶ clients ───┘
///
/// It also shows its user the broker's state (`UserFace`), and keeps the broker's door in PipeWire (`PipeWireDoor`).
///
/// Everything happens on the loop's thread. It decides nothing, and keeps nothing that it could not observe anew.
public final class Agent {
    private let options: AgentOptions
    private let loop: EventLoop
    private let journal = Journal(identifier: "camagent")
    private let user = geteuid()
    private var windows: DesktopSource?
    private var microphones: MicrophoneObserver?
    private var link: BrokerLink?
    private var face: UserFace?
    private var door: PipeWireDoor?
    private var windowTrouble: String?
    /// The last journal entries on windows and microphones, so that each is written once.
    private var told: (windows: String?, microphones: String?) = (nil, nil)
    private var strangers: Set<UInt32> = []
    private var shown: AgentView?

    /// - Throws: when the loop has no room for its sources.
    public init(_ options: AgentOptions, on loop: EventLoop) throws(SystemFault) {
        self.options = options
        self.loop = loop
        let found = ChosenSource(
            options.windows, display: options.display, variable: environment, isThere: { access($0, F_OK) == 0 })
        switch found {
        case .x11: windows = try X11Source(on: loop, display: options.display) { [unowned self] in look() }
        case .sway(let socket):
            windows = try SwaySource(on: loop, socket: socket, folder: environment("XDG_RUNTIME_DIR")) {
                [unowned self] in look()
            }
        case .kwin: windows = try KWinSource(on: loop) { [unowned self] in look() }
        case .none(let why): windowTrouble = why
        }
        if options.microphones == .automatic {
            microphones = try MicrophoneObserver(on: loop) { [unowned self] in look() }
        }
        if options.printing == nil {
            if options.hasFace { face = try UserFace(options, on: loop, user: user, journal: journal) }
            link = try BrokerLink(
                on: loop, address: options.socket, user: user, journal: journal,
                onClients: { [unowned self] in look() }, onFace: { [unowned self] in face?.took($0) })
            if options.pipeWireDoor == .automatic {
                door = try PipeWireDoor(on: loop, address: options.socket, journal: journal) { [unowned self] in
                    ServiceManager.status(status)
                    look()
                }
                if options.isKept { door?.onShown = { DoorKeeper.tellShown() } }
            }
        }
        // First of all, while no other thread reads the environment: libpipewire sets a variable.
        microphones?.open()
        door?.open()
        windows?.open()
        link?.connect()
        door?.connect()
        look()
        ServiceManager.ready(status: status)
        loop.startWatchdog()
    }

    private var status: String { "telling the broker what is seen" + (door?.linkTrouble.map { "; \($0)" } ?? "") }

    public func stop() {
        face?.stop()
        door?.close()
        link?.disconnect()
    }

    private func look() {
        let names = AppNames(link?.clients ?? [], SystemProcesses(user: user))
        let facts = UserFacts(
            desktop: windows?.desktop, captures: microphones?.captures, user: user, names: names,
            source: (windows?.name ?? "") + (door?.linkTrouble.map { " (\($0))" } ?? ""))
        noteTroubles()
        link?.tell(facts)
        if options.printing != nil { show(facts) }
    }

    private func noteTroubles() {
        // With `printing` the output has it.
        guard options.printing == nil else { return }
        let trouble = windowTrouble ?? windows?.trouble
        if trouble != told.windows {
            journal.send(.notice, trouble.map { "windows: \($0)" } ?? "windows: known from \(windows?.name ?? "")")
            told.windows = trouble
        }
        let silence = microphones == nil ? "--microphones none" : microphones?.trouble
        if silence != told.microphones {
            journal.send(.notice, silence.map { "microphones: \($0)" } ?? "microphones: known")
            told.microphones = silence
        }
        let nameless = Set(
            (windows?.desktop?.windows ?? []).filter { $0.kind == .application && $0.process == nil }.map(\.id))
        for window in nameless.subtracting(strangers).sorted() {
            journal.send(.notice, "window 0x\(String(window, radix: 16)) is of no known process; its app is not placed")
        }
        strangers = nameless
    }

    private func show(_ facts: UserFacts) {
        let isSettled = windows?.isSettled != false && microphones?.isSettled != false
        guard isSettled else { return }
        let processes = Set(
            (windows?.desktop?.windows ?? []).compactMap(\.process)
                + (microphones?.captures ?? []).map(\.believedProcess))
        let table = SystemProcesses(user: user)
        var names: [Int32: String] = [:]
        for process in processes { names[process] = table.app(of: process) }
        let sight = AgentView(
            user: user, source: windows?.desktop == nil ? nil : windows?.name, desktop: windows?.desktop,
            captures: microphones?.captures, windowTrouble: windowTrouble ?? windows?.trouble,
            microphoneTrouble: microphones == nil ? "--microphones none" : microphones?.trouble, facts: facts,
            names: names)
        guard sight != shown else { return }
        let text = options.isJSON ? sight.json.text : (shown == nil ? "" : "\n") + sight.text
        shown = sight
        write(text + "\n")
        if options.printing == .once { loop.exit() }
    }

    private func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // A closed reader has seen enough.
            if count <= 0 { return loop.exit() }
            rest = rest.dropFirst(count)
        }
    }
}
