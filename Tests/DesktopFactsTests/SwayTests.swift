import Agent
import ArbiterProtocol
import Testing

@Suite("What sway says")
struct SwayTests {
    /// As sway 1.7 writes them, with what is read of it.
    private func window(
        _ id: Int, _ more: String = "", pid: String = "4711", type: String = "con", visible: Bool = true,
        focused: Bool = false, fullscreen: Int = 0
    ) -> String {
        """
        {"id":\(id),"type":"\(type)","focused":\(focused),"rect":{"x":0,"y":25,"width":400,"height":575},"name":"foot \\/",
        "window":null,"nodes":[],"floating_nodes":[],"fullscreen_mode":\(fullscreen),"pid":\(pid),"visible":\(visible),
        "app_id":"a"\(more)}
        """
    }

    private func tree(_ nodes: String, floating: String = "") -> String {
        """
        {"id":1,"type":"root","focused":false,"nodes":[{"id":3,"type":"output","nodes":[{"id":4,"type":"workspace",
        "fullscreen_mode":1,"focused":false,"nodes":[\(nodes)],"floating_nodes":[\(floating)]}],"floating_nodes":[]}],
        "floating_nodes":[]}
        """
    }

    private func read(_ text: String) -> Desktop? {
        (try? JSONReader.read(Array(text.utf8), depthMax: Desktop.swayDepthMax)).flatMap(Desktop.init(swayTree:))
    }

    private func places(_ text: String) -> [UInt32: Placement]? { read(text)?.places }

    @Test("Containers, workspaces and outputs are no windows, and with the focus on one of them nobody has it")
    func containers() {
        let around = """
            {"id":8,"type":"con","focused":true,"nodes":[\(window(5)),\(window(6))],"floating_nodes":[]}
            """
        #expect(places(tree(around)) == [5: .inFront, 6: .inFront])
        #expect(places(tree("")) == [:])
    }

    @Test("An X11 program's window has no process but the one that its X server names, whatever its pid says")
    func xwayland() throws {
        let desktop = try #require(
            read(tree(window(5, #","window":77"#, pid: "1").replacing(#""window":null,"#, with: "") + "," + window(6))))
        #expect(desktop.windows.map(\.process) == [nil, 4711])
        let inside = Desktop(windows: [.of(30, id: 77), .of(40, id: 6)], active: nil)
        #expect(desktop.naming(fromX11: inside).windows.map(\.process) == [30, 4711])
        #expect(desktop.naming(fromX11: nil).windows.map(\.process) == [nil, 4711])
        #expect(
            desktop.naming(fromX11: Desktop(windows: [.of(nil, id: 77)], active: nil)).windows.map(\.process) == [
                nil, 4711,
            ])
    }

    @Test(
        "What is no tree is nothing that is known",
        arguments: [
            "", "null", "[]", "{}", "7", #"{"type":"root"}"#, #"{"type":"con","nodes":[]}"#,
            #"{"type":"root","nodes":7}"#,
            #"{"type":"root","nodes":["#,
        ])
    func noTree(text: String) { #expect(read(text) == nil) }

    @Test(
        "What a node says wrongly is left out, and the other windows stay",
        arguments: [
            "7", "null", "[]", #""con""#, "{}", #"{"type":"con","id":-1,"pid":5}"#,
            #"{"type":"con","id":4294967296,"pid":5}"#,
            #"{"type":"con","id":"5","pid":5}"#, #"{"type":7,"id":9,"pid":5}"#, #"{"type":"con","id":9}"#,
        ])
    func wrongNodes(node: String) {
        #expect(places(tree(node + "," + window(5))) == [5: .inFront])
    }

    @Test(
        "A window without a process that can be one is nobody's",
        arguments: ["0", "-4", "2147483648", "1e300", "\"7\"", "null", "[]"])
    func wrongProcesses(pid: String) throws {
        #expect(try #require(read(tree(window(5, pid: pid)))).windows.map(\.process) == [nil])
    }

    @Test("Frames beyond any screen, and facts of another type, are read as well as can be")
    func wrongFacts() {
        let node =
            #"{"type":"con","id":9,"pid":5,"visible":"yes","focused":1,"fullscreen_mode":"2","rect":{"x":1e99,"y":-99999999999,"width":-5}}"#
        let found = read(tree(node))
        #expect(found?.windows.first?.frame == .init(x: 0, y: .min, width: 0, height: 0))
        #expect(found?.windows.first?.isViewable == false && found?.active == nil)
    }

    @Test("Of more windows than anybody arranges those that are seen are kept, and the one with the focus")
    func many() {
        let count = Desktop.swayWindowsMax
        let hidden = (0..<count).map { window(1000 + $0, visible: false) }
        let seen = (0..<2).map { window(10 + $0, focused: $0 == 1) }
        let desktop = read(tree((hidden + seen).joined(separator: ",")))
        #expect(desktop?.windows.count == count)
        #expect(desktop?.windows.prefix(2).map(\.id) == [10, 11] && desktop?.active == 11)
    }

    @Test("Thirty containers in each other are read, and a tree without an end is not")
    func depth() {
        func nested(_ depth: Int) -> String {
            (0..<depth).reduce(window(5)) { inside, _ in #"{"type":"con","nodes":[\#(inside)]}"# }
        }
        #expect(places(tree(nested(30))) == [5: .inFront])
        #expect(read(tree(nested(100_000))) == nil)
    }

    @Test("Two windows that both say they have the focus are not both focused")
    func twoFocused() {
        let found = places(tree(window(5, focused: true) + "," + window(6, focused: true)))
        #expect(found?.values.filter(\.isFocused).count == 1)
    }
}

@Suite("Which source a camagent has")
struct ChosenSourceTests {
    private func chosen(
        _ variables: [String: String], asked: ChosenSource.Asked = .automatic, display: String? = nil,
        there: Bool = true
    ) -> ChosenSource {
        ChosenSource(asked, display: display, variable: { variables[$0] }, isThere: { _ in there })
    }

    @Test("By itself it is sway's in its session, X11's in X11's, and none in another Wayland session")
    func automatic() {
        #expect(chosen(["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":0"]) == .sway("/s"))
        #expect(chosen(["SWAYSOCK": "/s"]) == .sway("/s"))
        #expect(chosen(["DISPLAY": ":0"]) == .x11)
        guard case .none(let why) = chosen(["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"]) else {
            Issue.record("a source on Wayland")
            return
        }
        #expect(why.contains("Wayland"))
    }

    @Test("A socket that a session left behind is not taken for one of this session")
    func leftBehind() {
        #expect(chosen(["SWAYSOCK": "/s", "XDG_SESSION_TYPE": "x11", "DISPLAY": ":0"]) == .x11)
        let plasma = ["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "KDE"]
        #expect(chosen(plasma) == .kwin)
        // One that is about to be there again.
        let sway = ["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-1", "XDG_CURRENT_DESKTOP": "sway"]
        #expect(chosen(sway, there: false) == .sway("/s"))
        #expect(chosen(["SWAYSOCK": "/s", "DISPLAY": ":0"], there: false) == .x11)
    }

    @Test("What is asked for is taken, and a named display is X11's")
    func asked() {
        let sway = ["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-1"]
        #expect(chosen(sway, asked: .x11) == .x11)
        #expect(chosen(sway, display: ":7") == .x11)
        #expect(chosen(sway, asked: .none) == .none("--windows none"))
        #expect(chosen([:], asked: .sway) == .sway(nil))
    }

    @Test("In Plasma's session it is KWin's on Wayland, and X11's on X11")
    func plasma() {
        #expect(chosen(["WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "KDE", "DISPLAY": ":1"]) == .kwin)
        #expect(chosen(["XDG_SESSION_TYPE": "x11", "XDG_CURRENT_DESKTOP": "KDE", "DISPLAY": ":0"]) == .x11)
    }

    @Test("On GNOME it says what to enable, and without any display that there is none")
    func why() {
        guard case .none(let why) = chosen(["XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "Debian:GNOME"])
        else {
            Issue.record("a source on GNOME's Wayland")
            return
        }
        #expect(why.contains("camarb@camarb.org"))
        #expect(chosen([:]) == .none("there is no X11 display ($DISPLAY is not set)"))
    }
}
