import Agent
import ArbiterProtocol
import Testing

@Suite("What KWin's script says")
struct KWinTests {
    private func read(_ text: String) -> Desktop? {
        (try? JSONReader.read(Array(text.utf8), depthMax: Desktop.kwinDepthMax)).flatMap(Desktop.init(kwin:))
    }

    private func window(_ id: Int, _ more: String = "") -> String {
        """
        {"id":\(id),"process":4711,"x11":0,"application":true,"here":true,"hidden":false,"fullscreen":false,
        "x":0,"y":0,"width":64,"height":48\(more)}
        """
    }

    private func places(_ active: Int, _ windows: String...) -> [UInt32: Placement]? {
        read(#"{"active":\#(active),"windows":[\#(windows.joined(separator: ","))]}"#)?.places
    }

    @Test("An X11 program's window has no process but the one that its X server names")
    func xwayland() {
        let desktop = read(#"{"active":1,"windows":[\#(window(1, #","x11":77"#)),\#(window(2))]}"#)
        #expect(desktop?.windows.map(\.process) == [nil, 4711])
        let inside = Desktop(windows: [.of(30, id: 77)], active: nil)
        #expect(desktop?.naming(fromX11: inside).windows.map(\.process) == [30, 4711])
    }

    @Test(
        "What is no list of windows is nothing that is known",
        arguments: ["", "null", "[]", "{}", #"{"windows":7}"#, #"{"windows":["#, #"{"windows":[[[[[[]]]]]]}"#])
    func noList(text: String) { #expect(read(text) == nil) }

    @Test(
        "What is said wrongly of one window leaves the others",
        arguments: ["7", "null", "{}", #"{"id":-1}"#, #"{"id":4294967296}"#, #"{"id":"5"}"#])
    func wrongWindows(wrong: String) { #expect(places(0, wrong, window(5)) == [5: .inFront]) }

    @Test("A process that cannot be one is none, and of more windows than anybody arranges those on top are read")
    func bounds() {
        #expect(
            read(#"{"windows":[{"id":1,"process":-3},{"id":2,"process":1e9}]}"#)?.windows.map(\.process) == [nil, nil])
        let many = (0..<Desktop.kwinWindowsMax + 3).map { window($0 + 1) }.joined(separator: ",")
        #expect(read(#"{"windows":[\#(many)]}"#)?.windows.map(\.id).first == 4)
    }
}
