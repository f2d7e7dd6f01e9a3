import ArbiterProtocol
import Bus
import Glibc
import System

/// The windows of a Plasma session on Wayland, by a script in KWin over the session bus.
///
///     no bus ──▶ looking for KWin ──there──▶ script loaded ──sends──▶ known ──KWin or the bus goes──▶ looking again
///
/// KWin runs scripts of a user's programs (`org.kde.kwin.Scripting`). Each camagent loads it anew into each KWin, so
/// that nothing is installed in it and nothing outlives that KWin. Only KWin's own messages count: the bus names the
/// sender.
final class KWinSource: DesktopSource {
    private static let kwin = "org.kde.KWin"
    private static let scripting = (path: "/Scripting", interface: "org.kde.kwin.Scripting")
    /// The wait for the script's first message: it comes within milliseconds, and on a login within seconds.
    private static let patience: Int64 = 10_000_000_000

    private var bus: MessageBus?
    private var waiting: Timer?
    private var owner = ""
    /// The script's destination name is ours.
    private var isNamed = false
    private var said: Desktop?
    private var file: String?

    init(on loop: EventLoop, onChange: @escaping () -> Void) throws(SystemFault) {
        try super.init("KWin", on: loop, onChange: onChange)
        waiting = try loop.addTimer { [unowned self] in refused("KWin has not run the script that tells its windows") }
    }

    deinit { removeFile() }

    override func open() {
        // KWin is there, and took no script before.
        if bus != nil { return handOver() }
        do throws(SystemFault) { bus = try MessageBus(.session, on: loop, delegate: self) } catch {
            know(nil, "\(error)")
        }
    }

    private func owned(by new: String) {
        owner = new
        said = nil
        if owner.isEmpty { return gone("KWin is not on the session bus") }
        handOver()
    }

    private func gone(_ why: String) {
        waiting?.arm(at: nil)
        tryNoMore()
        close()
        removeFile()
        know(nil, why)
    }

    /// A KWin that starts has its name on the bus before it takes scripts: it is tried again, less and less often.
    private func refused(_ why: String) {
        waiting?.arm(at: nil)
        tryLater()
        know(nil, why)
    }

    private func handOver() {
        guard isNamed, !owner.isEmpty, let bus else { return }
        guard let path = writeFile() else {
            return know(
                nil, "the script for KWin cannot be written: \(SystemFault("write", errno).reason) ($XDG_RUNTIME_DIR)")
        }
        waiting?.arm(at: EventLoop.now + Self.patience)
        let name = WireValue.string(KWinScript.name)
        // Replies come in the order of the calls.
        ask(bus, "unloadScript", [name]) { _ in }
        ask(bus, "loadScript", [.string(path), name]) { [weak self] answer in
            if case .failure(let error) = answer { self?.refused("KWin takes no script: \(error.message)") }
        }
        ask(bus, "start", []) { _ in }
    }

    private func ask(
        _ bus: MessageBus, _ member: String, _ arguments: [WireValue],
        _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        bus.call(
            owner, path: Self.scripting.path, interface: Self.scripting.interface, member: member, arguments, handler)
    }

    /// In the user's own folder.
    private func writeFile() -> String? {
        removeFile()
        guard let folder = environment("XDG_RUNTIME_DIR") else { return nil }
        let path = "\(folder)/camarb-kwin-\(getpid()).js"
        _ = unlink(path)
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        file = path
        let bytes = Array(KWinScript.text.utf8)
        let count = write(descriptor, bytes, bytes.count)
        _ = Glibc.close(descriptor)
        return count == bytes.count ? path : nil
    }

    private func removeFile() {
        if let file { _ = unlink(file) }
        file = nil
    }

    private func heard(_ call: BusMessage) throws(BrokerError) {
        guard call.path == KWinScript.path, call.interface == KWinScript.interface, call.member == KWinScript.member,
            call.signature == "s"
        else {
            throw BrokerError(
                .unknownMethod, "There is only \(KWinScript.interface).\(KWinScript.member) of \(KWinScript.path).")
        }
        guard !owner.isEmpty, call.sender == owner else {
            throw BrokerError(.notTrusted, "Only KWin says where its windows are.")
        }
        let text = try call.readString()
        let json = try? JSONReader.read(Array(text.utf8), depthMax: Desktop.kwinDepthMax)
        guard let read = json.flatMap(Desktop.init(kwin:)) else {
            throw BrokerError(.invalidValue, "This is not a list of windows.")
        }
        call.answer()
        said = read
        waiting?.arm(at: nil)
        tryNoMore()
        backOff.reset()
        removeFile()
        lookSoon()
    }

    override func look() { if let said { know(own: said) { [unowned self] in look() } } }
}

extension KWinSource: MessageBusDelegate {
    func busReady(_ bus: MessageBus) {
        bus.match(MessageBus.ownerRule(Self.kwin))
        // 4: an owner keeps the name.
        bus.askBus("RequestName", [.string(KWinScript.destination), .uint32(4)]) { [weak self] answer in
            guard let self else { return }
            // 1: it is ours.
            isNamed = (try? answer.get().readUInt32()) == 1
            if isNamed { handOver() } else { know(nil, "another program of this user's follows KWin already") }
        }
        bus.askBus("GetNameOwner", [.string(Self.kwin)]) { [weak self] answer in
            self?.owned(by: (try? answer.get().readString()) ?? "")
        }
    }

    func bus(_ bus: MessageBus, received signal: BusMessage) {
        if let (name, new) = MessageBus.ownerChange(signal), name == Self.kwin { owned(by: new) }
    }

    func bus(_ bus: MessageBus, called call: BusMessage) {
        do throws(BrokerError) { try heard(call) } catch { call.answer(error) }
    }

    func busLost(_ bus: MessageBus, _ why: String) {
        (owner, isNamed, said) = ("", false, nil)
        gone(why)
    }
}

/// The script in KWin: it sends all windows, from the bottom of the stack to its top, whenever one changes. KWin has no
/// interface for windows, and a script inside it reaches programs by the session bus alone. KWin 5's names for things
/// differ from KWin 6's, and both are here.
enum KWinScript {
    /// The script's name in KWin, by which an earlier camagent's is taken out.
    static let name = "camarb"
    static let destination = "org.camarb.Windows"
    static let path = "/org/camarb/Windows"
    static let interface = "org.camarb.Windows1"
    static let member = "Tell"

    static let text = #"""
        var next = 1, numbers = {};
        function number(w) {
            var id = String(w.internalId);
            if (!numbers[id]) numbers[id] = next++;
            return numbers[id];
        }
        function windows() { return workspace.windowList ? workspace.windowList() : workspace.clientList(); }
        function isHere(w) {
            var onDesktop = w.desktops === undefined
                ? w.onAllDesktops || w.desktop === workspace.currentDesktop
                : w.desktops.length === 0 || w.desktops.indexOf(workspace.currentDesktop) >= 0;
            var activities = w.activities || [];
            return onDesktop && (activities.length === 0 || activities.indexOf(workspace.currentActivity) >= 0);
        }
        function tell() {
            var active = 0;
            var all = windows().sort(function (a, b) { return a.stackingOrder - b.stackingOrder; }).slice(-512);
            var said = all.map(function (w) {
                // A window that fills a screen hides all of it, also before the program has drawn that much.
                var f = w.fullScreen ? workspace.clientArea(KWin.FullScreenArea, w) : w.frameGeometry;
                if (w.active) active = number(w);
                return {
                    id: number(w), process: w.pid, x11: w.windowId || 0,
                    application: Boolean(w.normalWindow || w.dialog || w.utility), here: Boolean(isHere(w)),
                    hidden: Boolean(w.minimized), fullscreen: Boolean(w.fullScreen), x: Math.round(f.x), y: Math.round(f.y),
                    width: Math.round(f.width), height: Math.round(f.height)
                };
            });
            callDBus("org.camarb.Windows", "/org/camarb/Windows", "org.camarb.Windows1", "Tell",
                     JSON.stringify({active: active, windows: said}));
        }
        function follow(w) {
            ["minimizedChanged", "fullScreenChanged", "desktopChanged", "desktopsChanged", "activitiesChanged"]
                .forEach(function (signal) { if (w[signal]) w[signal].connect(tell); });
        }
        ["clientActivated", "windowActivated", "currentDesktopChanged", "currentActivityChanged"].forEach(function (signal) {
            if (workspace[signal]) workspace[signal].connect(tell);
        });
        (workspace.windowAdded || workspace.clientAdded).connect(function (w) { follow(w); tell(); });
        (workspace.windowRemoved || workspace.clientRemoved).connect(function (w) {
            delete numbers[String(w.internalId)];
            tell();
        });
        windows().forEach(follow);
        tell();
        """#
}
