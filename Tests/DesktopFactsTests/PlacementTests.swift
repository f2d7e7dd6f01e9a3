import Agent
import ArbiterProtocol
import Testing

@Suite("Where windows put apps")
struct PlacementTests {
    private let fullscreen = Placement(.foreground(.fullscreen))

    private func places(
        _ windows: [Window], active: UInt32? = nil, workspace: UInt32? = nil, clients: [ClientProcess] = [],
        _ table: FakeProcesses = .usual
    ) -> [String: Placement] {
        let desktop = Desktop(windows: windows, active: active, workspace: workspace)
        return UserFacts(desktop: desktop, captures: nil, user: 1000, names: AppNames(clients, table)).placements ?? [:]
    }

    @Test("A fullscreen window hides what it covers, and not what lies on another screen or above it")
    func covered() {
        let beside = Window.of(40, frame: .init(x: 1200, y: 0, width: 300, height: 300))
        #expect(
            places([.of(30), beside, .of(20, fullscreen: true)], active: 20) == [
                "browser": .background, "editor": .inFront,
                "terminal": Placement(.foreground(.fullscreen), isFocused: true),
            ])
        #expect(places([.of(20, fullscreen: true), .of(30)]) == ["terminal": fullscreen, "browser": .inFront])
        #expect(places([.of(30), .of(20, hidden: true, fullscreen: true)])["browser"] == .inFront)
        // The active window is visible, whatever the stack is for a moment.
        #expect(places([.of(30), .of(20, fullscreen: true)], active: 30)["browser"] == .focused)
    }

    @Test("A fullscreen window on workspace 2 hides nothing on 1")
    func coveredElsewhere() {
        let elsewhere = Window.of(20, fullscreen: true, workspace: 2)
        #expect(places([.of(30, workspace: 1), elsewhere], workspace: 1)["browser"] == .inFront)
        #expect(places([.of(30, workspace: 2), elsewhere], workspace: 2)["browser"] == .background)
    }

    @Test("An app with several windows is where the strongest of them is")
    func severalWindows() {
        let windows: [Window] = [.of(30, id: 1, hidden: true), .of(30, id: 2), .of(30, id: 3, workspace: 9)]
        #expect(places(windows, workspace: 1) == ["browser": .inFront])
        #expect(places(windows, active: 2, workspace: 1) == ["browser": .focused])
    }

    @Test("Panels and desktops put no app in front, and take the focus from all")
    func furniture() {
        #expect(places([.of(40), .of(10, kind: .furniture)], active: 10) == ["editor": .inFront])
    }

    @Test("Of windows that are gone nothing is kept, and nobody is focused when the focused one is among them")
    func keepingWhatIsThere() {
        var desktop = Desktop(windows: [.of(30), .of(40)], active: 30)
        desktop.keep([40, 77])
        #expect(desktop.windows.map(\.id) == [40])
        #expect(places(desktop.windows, active: desktop.active) == ["editor": .inFront])
    }

    @Test(
        "A window of no known process, or of another user's, places nobody; a client is called what the broker calls it"
    )
    func strangers() {
        #expect(places([.of(nil, id: 7), .of(99)], active: 7) == [:])
        #expect(places([.of(30)], active: 30, clients: [.init(process: 30, app: "web@home")]) == ["web@home": .focused])
    }

    @Test("A client whose own window has the focus keeps it from those it started")
    func ownWindowFirst() {
        let clients: [ClientProcess] = [.init(process: 20, app: "terminal"), .init(process: 22, app: "camclient")]
        let found = places([.of(20)], active: 20, clients: clients)
        #expect(found == ["terminal": .focused, "camclient": .inFront])
    }

    /// A browser (30, 31) whose other process (32) has lost its parent, in the browser's unit; a terminal (20) in a unit of
    /// its own, with what was started in it: a player with a window (23), a tool (22), and one that left (24).
    private var units: FakeProcesses {
        var table = FakeProcesses.usual
        table.all[32] = ("orphan", 1)
        table.all[23] = ("player", 21)
        table.all[24] = ("left", 1)
        table.units = [30: "browser", 31: "browser", 32: "browser"]
        for process: Int32 in 20...24 { table.units[process] = "terminal" }
        table.inTerminals = [21, 22, 23, 24]
        return table
    }

    @Test("A unit in which two programs that did not start each other have windows says nothing about a third")
    func severalInAUnit() {
        var table = units
        table.units[40] = "browser"
        let clients: [ClientProcess] = [.init(process: 32, app: "orphan")]
        #expect(places([.of(30), .of(40)], active: 30, clients: clients, table)["orphan"] == nil)
        // A helper's window beside the one of the process that started it is the same app's.
        #expect(places([.of(30), .of(31, hidden: true)], active: 30, clients: clients, units)["orphan"] == .focused)
    }

    @Test(
        "What was started in one terminal is where its own window is, or where the terminal is, and never where another's is"
    )
    func terminals() {
        let clients: [ClientProcess] = [
            .init(process: 22, app: "tool"), .init(process: 23, app: "player"), .init(process: 24, app: "left"),
        ]
        let player = places([.of(20, hidden: true), .of(23)], active: 23, clients: clients, units)
        #expect(player["player"] == .focused && player["tool"] == .background && player["left"] == nil)
        let terminal = places([.of(20), .of(23, hidden: true)], active: 20, clients: clients, units)
        #expect(terminal["player"] == .background && terminal["tool"] == .focused && terminal["left"] == nil)
        // Also where the terminal has no window that is known: the player's is not the tool's.
        #expect(places([.of(23)], active: 23, clients: clients, units)["tool"] == nil)
    }

    @Test("A client that nothing with a window started is not placed; nor does a circle of parents hold anybody up")
    func noWindowAnywhere() {
        let clients: [ClientProcess] = [.init(process: 22, app: "camclient"), .init(process: 31, app: "capture")]
        #expect(places([.of(40)], active: 40, clients: clients) == ["editor": .focused])
        let circle = FakeProcesses(all: [50: ("a", 51), 51: ("b", 50), 40: ("editor", 10)])
        #expect(places([.of(40)], clients: [.init(process: 50, app: "a")], circle) == ["editor": .inFront])
    }
}
