import CXCB
import Glibc
import System

/// The windows of an X11 display, followed by its events.
///
///     opening ──▶ open: reading, then known while a window manager lists them ──lost──▶ closed, opened again later
///
/// The loop never waits for the server: connecting does, and is a task's.
final class X11Source: DesktopSource {
    private let display: String?
    /// An opened display, from its task to the loop, which alone uses it from then on.
    private let opened = LoopQueue<(fault: camarb_x11_fault.RawValue, display: UInt)>()
    private var x11: OpaquePointer?
    private var order = ReadingOrder()

    init(on loop: EventLoop, display: String?, onChange: @escaping () -> Void) throws(SystemFault) {
        self.display = display
        try super.init("X11 display \(display ?? environment("DISPLAY") ?? "")", on: loop, onChange: onChange)
        opened.setWakeup(try loop.addWakeup { [unowned self] in takeOpened() })
    }

    deinit { close() }

    override func open() {
        let (queue, display) = (opened, display)
        Task.detached {
            var opened: OpaquePointer?
            let fault = camarb_x11_open(display, &opened)
            queue.post((fault.rawValue, UInt(bitPattern: opened)))
        }
    }

    private func takeOpened() {
        guard let last = opened.take().last else { return }
        let fault = camarb_x11_fault(rawValue: last.fault)
        guard fault == camarb_x11_good, let opened = OpaquePointer(bitPattern: last.display) else {
            return failed(fault)
        }
        x11 = opened
        do throws(SystemFault) {
            source = try loop.addIO(camarb_x11_descriptor(opened), .readable) { [unowned self] _ in turn() }
        } catch { return lost("\(error)") }
        look()
    }

    override func close() {
        super.close()
        if let x11 { camarb_x11_close(x11) }
        x11 = nil
    }

    private var displayName: String { display ?? environment("DISPLAY") ?? "" }

    private func failed(_ fault: camarb_x11_fault) {
        let name = displayName
        switch fault {
        case camarb_x11_elsewhere:
            know(nil, "the display \(name) may be another machine's, whose processes are not this one's")
        case camarb_x11_bad_name: know(nil, "“\(name)” is not a name of an X11 display, such as :0")
        case camarb_x11_no_processes:
            know(nil, "the X server of \(name) cannot say which processes windows belong to (X-Resource 1.2)")
        default: lost("no X server answers on \(name)")
        }
    }

    override func look() {
        guard let x11 else { return }
        order.wasDue(begun: camarb_x11_read(x11))
        turn()
    }

    private func turn() {
        guard let x11 else { return }
        let news = Int(camarb_x11_turn(x11))
        if news & CAMARB_X11_LOST != 0 { return lost("the X server went away") }
        if news & CAMARB_X11_READ != 0 {
            backOff.reset()
            take(x11)
        }
        if order.isDue(changed: news & CAMARB_X11_CHANGED != 0, complete: news & CAMARB_X11_READ != 0) { lookSoon() }
    }

    private func take(_ x11: OpaquePointer) {
        let read = camarb_x11_desktop_of(x11)
        let windows = (0..<read.count).map { Window(camarb_x11_window_of(x11, $0)) }
        if read.has_manager, read.has_list || desktop != nil {
            let active = read.active == 0 ? nil : read.active
            let workspace = read.workspace == .max ? nil : read.workspace
            know(Desktop(windows: windows, active: active, workspace: workspace), nil)
        } else if var left = desktop {
            // A manager that dies is usually back in a moment: its last list stands, for windows that are there.
            if read.has_list { left.keep(Set(windows.map(\.id))) }
            know(left, "the window manager went away; the focus is where it was")
        } else {
            know(nil, "no window manager says which windows there are")
        }
    }
}

extension Window {
    fileprivate init(_ window: camarb_x11_window) {
        self.init(
            id: window.id, process: window.process > 0 ? window.process : nil,
            kind: window.kind == camarb_x11_application ? .application : .furniture, isViewable: window.is_viewable,
            isHidden: window.is_hidden, isFullscreen: window.is_fullscreen,
            workspace: window.workspace == .max ? nil : window.workspace,
            frame: Frame(x: window.x, y: window.y, width: window.width, height: window.height))
    }
}
