package import ArbiterProtocol

/// The windows by our script inside KWin.
extension Desktop {
    /// More windows than anybody arranges, as on X11; of more, the script sends the topmost.
    public static let kwinWindowsMax = 512
    /// An object, its list, and an object for each window with its frame.
    package static let kwinDepthMax = 5

    /// `nil` where this is no output of the script. Only a window's wrong field is left out: another version of KWin
    /// may have fewer.
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
        // Of an X11 program KWin has only the window's own claim.
        let x11 = said["x11"]?.integer.flatMap(UInt32.init(exactly:)).flatMap { $0 == 0 ? nil : $0 }
        let process = said["process"]?.integer.flatMap(Int32.init(exactly:)).flatMap { $0 > 0 ? $0 : nil }
        self.init(
            id: id, process: x11 == nil ? process : nil,
            kind: said["application"]?.bool == false ? .furniture : .application,
            isViewable: said["here"]?.bool ?? false, isHidden: said["hidden"]?.bool ?? false,
            isFullscreen: said["fullscreen"]?.bool ?? false, frame: Frame(said), x11: x11)
    }
}
