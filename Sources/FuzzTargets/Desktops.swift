import ArbiterProtocol
import DesktopFacts
import JSONText

/// What a compositor says of its windows: sway on its socket, and the script of ours inside KWin.
extension FuzzTarget {
    /// Messages are the same wherever they are cut; what is taken for a desktop has as many windows as are read at most, and
    /// each of them is somewhere; and JSON reads back as the same.
    static func desktop(_ input: [UInt8]) {
        let rest = Array(input.dropFirst())
        guard let first = input.first, first & 1 == 0 else { return desktops(in: rest, depthMax: Desktop.kwinDepthMax) }
        let cut = CutBytes(rest)
        let whole = messages([cut.bytes])
        precondition(messages(cut.pieces) == whole, "sway's messages are others when they are cut: \(cut.cuts)")
        precondition(messages(cut.singly) == whole, "sway's messages are others when their bytes come one by one.")
        for message in whole.messages { desktops(in: message.bytes, depthMax: Desktop.swayDepthMax) }
    }

    /// One client, of the process of most windows of the corpus.
    private static var names: AppNames { AppNames([ClientProcess(process: 4711, app: "photos")], FewProcesses()) }

    private struct Heard: Equatable {
        var messages: [SwayMessages.Message] = []
        var fault: SwayMessages.Fault?
    }

    private static func messages(_ pieces: [[UInt8]]) -> Heard {
        var reader = SwayMessages()
        var heard = Heard()
        do throws(SwayMessages.Fault) {
            for piece in pieces {
                reader.take(piece)
                while let message = try reader.next() { heard.messages.append(message) }
            }
        } catch {
            heard.fault = error
        }
        return heard
    }

    private static func desktops(in bytes: [UInt8], depthMax: Int) {
        guard let json = try? JSONReader.read(bytes, depthMax: depthMax) else { return }
        let again = try? JSONReader.read(Array(json.text.utf8), depthMax: depthMax)
        precondition(again?.text == json.text, "JSON reads back as another: \(json.text)")
        for desktop in [Desktop(swayTree: json), Desktop(kwin: json)].compactMap(\.self) {
            precondition(
                desktop.windows.count <= max(Desktop.swayWindowsMax, Desktop.kwinWindowsMax),
                "\(desktop.windows.count) windows were read.")
            let named = desktop.naming(fromX11: desktop)
            var said = SaidFacts()
            for one in [desktop, named] {
                for place in one.windows.indices { _ = one.placement(of: place) }
                let focused = one.windows.indices.filter { one.placement(of: $0).isFocused }
                precondition(
                    focused.allSatisfy { one.windows[$0].id == one.active },
                    "A window has the focus that is not active.")
                _ = said.toSay(UserFacts(desktop: one, captures: [], user: 0, names: names))
            }
        }
    }
}

/// A machine where every second process is an app's, and no more is known of them.
private struct FewProcesses: ProcessTable {
    func app(of process: Int32) -> String? { process % 2 == 0 ? "app\(process)" : nil }
    func parent(of process: Int32) -> Int32? { nil }
    func appUnit(of process: Int32) -> String? { nil }
    func hasTerminal(_ process: Int32) -> Bool { false }
}
