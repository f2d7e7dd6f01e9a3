/// What KWin is asked to run: it says all windows, from the bottom of the stack to its top, whenever one changes.
///
/// KWin tells programs nothing of its windows, and a script inside it reaches programs by the session bus alone. KWin 5's names
/// for things differ from KWin 6's, and both are here.
enum KWinScript {
    /// What KWin calls it, so that one that an earlier camagent left there is taken out.
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
                // What fills a screen hides all of it, also before the program has drawn that much.
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
