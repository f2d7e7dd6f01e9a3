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
        for (inside, process) in [([.of(30, id: 77), .of(40, id: 6)], 30), (nil, nil), ([.of(nil, id: 77)], nil)]
            as [([Window]?, Int32?)]
        {
            let named = desktop.naming(fromX11: inside.map { Desktop(windows: $0, active: nil) })
            #expect(named.windows.map(\.process) == [process, 4711])
        }
    }

    @Test(
        "What is no tree is nothing that is known",
        arguments: [
            "", "null", "[]", "{}", "7", #"{"type":"root"}"#, #"{"type":"con","nodes":[]}"#,
            #"{"type":"root","nodes":7}"#, #"{"type":"root","nodes":["#,
        ])
    func noTree(text: String) { #expect(read(text) == nil) }

    @Test(
        "What a node says wrongly is left out, and the other windows stay",
        arguments: [
            "7", "null", "[]", #""con""#, "{}", #"{"type":"con","id":-1,"pid":5}"#,
            #"{"type":"con","id":4294967296,"pid":5}"#, #"{"type":"con","id":"5","pid":5}"#,
            #"{"type":7,"id":9,"pid":5}"#, #"{"type":"con","id":9}"#,
        ])
    func wrongNodes(node: String) { #expect(places(tree(node + "," + window(5))) == [5: .inFront]) }

    @Test("A window without a process that can be one is nobody's")
    func wrongProcesses() {
        for pid in ["0", "-4", "2147483648", "1e300", "\"7\"", "null", "[]"] {
            #expect(read(tree(window(5, pid: pid)))?.windows.map(\.process) == [nil], "\(pid)")
        }
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
}

@Suite("Which source a camagent has")
struct ChosenSourceTests {
    private func chosen(
        _ variables: [String: String], asked: ChosenSource.Asked = .automatic, display: String? = nil,
        there: Bool = true
    ) -> ChosenSource {
        ChosenSource(asked, display: display, variable: { variables[$0] }, isThere: { _ in there })
    }

    @Test("By itself it is sway's or KWin's in their sessions, X11's in X11's, whatever socket an earlier session left")
    func automatic() {
        for (variables, there, source) in [
            (["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-1", "DISPLAY": ":0"], true, .sway("/s")),
            (["SWAYSOCK": "/s"], true, .sway("/s")), (["DISPLAY": ":0"], true, .x11),
            (["SWAYSOCK": "/s", "XDG_SESSION_TYPE": "x11", "DISPLAY": ":0"], true, .x11),
            (["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "KDE"], true, .kwin),
            // A sway that is about to be there again.
            (["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-1", "XDG_CURRENT_DESKTOP": "sway"], false, .sway("/s")),
            (["SWAYSOCK": "/s", "DISPLAY": ":0"], false, .x11),
            (["WAYLAND_DISPLAY": "wayland-0", "XDG_CURRENT_DESKTOP": "KDE", "DISPLAY": ":1"], true, .kwin),
            (["XDG_SESSION_TYPE": "x11", "XDG_CURRENT_DESKTOP": "KDE", "DISPLAY": ":0"], true, .x11),
            ([:], true, .none("there is no X11 display ($DISPLAY is not set)")),
        ] as [([String: String], Bool, ChosenSource)] {
            #expect(chosen(variables, there: there) == source, "\(variables)")
        }
    }

    @Test("What is asked for is taken, and a named display is X11's")
    func asked() {
        let sway = ["SWAYSOCK": "/s", "WAYLAND_DISPLAY": "wayland-1"]
        #expect(chosen(sway, asked: .x11) == .x11)
        #expect(chosen(sway, display: ":7") == .x11)
        #expect(chosen(sway, asked: .none) == .none("--windows none"))
        #expect(chosen([:], asked: .sway) == .sway(nil))
    }

    @Test("In another Wayland session there is none, and on GNOME it says what to enable")
    func why() {
        for (variables, words) in [
            (["WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"], "Wayland"),
            (["XDG_SESSION_TYPE": "wayland", "XDG_CURRENT_DESKTOP": "Debian:GNOME"], "camarb@camarb.org"),
        ] as [([String: String], String)] {
            guard case .none(let why) = chosen(variables) else {
                Issue.record("a source with \(variables)")
                continue
            }
            #expect(why.contains(words))
        }
    }
}
