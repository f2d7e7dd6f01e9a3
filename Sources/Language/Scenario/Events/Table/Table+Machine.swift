import Arbiter
import ArbiterProtocol

extension EventDescription.Table {
    /// The machine: its cameras, its switches, and how it is.
    mutating func addMachine() {
        (origin, concern) = (.machine, .everybody)
        add(.cameraAppeared, .own("plug"), marked: [.noted], Event.cameraAppeared, .camera, .capabilities, .seat) {
            if case .cameraAppeared(let camera, let abilities, let seat) = $0 { (camera, abilities, seat) } else { nil }
        }
        add(.cameraDisappeared, .line("unplug"), marked: [.noted], Event.cameraDisappeared, .camera) {
            if case .cameraDisappeared(let camera) = $0 { camera } else { nil }
        }
        add(.privacy, .line("privacy"), marked: [.noted], Event.privacy, .cameraOrAll, .either("on", "on", "off")) {
            if case .privacy(let camera, let on) = $0 { (camera, on) } else { nil }
        }
        add(
            .heldOutside, .line("held-outside"), marked: [.routine, .noted], Event.heldOutside, .camera,
            .either("held", "on", "off")
        ) { if case .heldOutside(let camera, let held) = $0 { (camera, held) } else { nil } }
        add(.pressure, .line("pressure"), marked: [.noted], Event.pressure, .pressure) {
            if case .pressure(let level) = $0 { level } else { nil }
        }
        add(.sleep, .value(["sleep", "wake"]), marked: [.noted], Event.sleep, .either("asleep", "sleep", "wake")) {
            if case .sleep(let asleep) = $0 { asleep } else { nil }
        }
        add(.calendar, .line("calendar"), marked: [.noted], Event.calendar, .modeOrNone) {
            if case .calendar(let mode) = $0 { mode } else { nil }
        }
        // A recorder core reports it, but it is the device's doing.
        add(
            .deviceFailed, .recorder("failed"), concerning: .whoeverIsTold, Event.deviceFailed, .camera,
            .unsaid("fault", usual: .device), .sentence("message", "what the device says")
        ) {
            if case .deviceFailed(let camera, let fault, let message) = $0 { (camera, fault, message) } else { nil }
        }
    }
}
