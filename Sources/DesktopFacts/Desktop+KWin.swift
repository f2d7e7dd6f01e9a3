package import JSONText

/// What a script of ours inside KWin says of its windows.
extension Desktop {
    /// More windows than anybody arranges, as on X11; of more, the script says those on top.
    public static let kwinWindowsMax = 512
    /// An object, its list, and an object for each window with its frame.
    package static let kwinDepthMax = 5

    /// Nil where this is nothing that the script says. Only what it says wrongly of a window is left out of that:
    /// another version of KWin may know less.
    package init?(kwin said: JSON) {
        guard let list = said["windows"]?.array else { return nil }
        let windows = list.suffix(Self.kwinWindowsMax).compactMap(Window.init(kwin:))
        let active = said["active"]?.integer.flatMap(UInt32.init(exactly:))
        self.init(windows: windows, active: active.flatMap { $0 == 0 ? nil : $0 })
    }
}

extension Window {
    fileprivate init?(kwin said: JSON) {
        guard let id = said["id"]?.integer.flatMap(UInt32.init(exactly:)) else { return nil }
        // Of an X11 program KWin knows only what the window says of itself.
        let x11 = said["x11"]?.integer.flatMap(UInt32.init(exactly:)).flatMap { $0 == 0 ? nil : $0 }
        let process = said["process"]?.integer.flatMap(Int32.init(exactly:)).flatMap { $0 > 0 ? $0 : nil }
        func number<Number: FixedWidthInteger>(_ key: String) -> Number {
            said[key]?.integer.map { Number(clamping: $0) } ?? 0
        }
        self.init(
            id: id, process: x11 == nil ? process : nil,
            kind: said["application"]?.bool == false ? .furniture : .application,
            isViewable: said["here"]?.bool ?? false, isHidden: said["hidden"]?.bool ?? false,
            isFullscreen: said["fullscreen"]?.bool ?? false,
            frame: Frame(x: number("x"), y: number("y"), width: number("width"), height: number("height")), x11: x11)
    }
}
