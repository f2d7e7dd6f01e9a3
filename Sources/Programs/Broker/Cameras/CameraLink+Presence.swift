import Arbiter
import ArbiterProtocol
import System

/// Whether the camera is there, what it can do, and what beside the broker keeps it from giving pictures.
extension CameraLink {
    func became(_ found: CameraCapabilities) {
        appear(found)
        isKnown = true
        broker.cameras.becameKnown()
    }

    func appear(_ found: CameraCapabilities) {
        trouble = nil
        describeFailures = 0
        let isNew = capabilities == nil
        capabilities = found
        if !isPresent { generation += 1 }
        isPresent = true
        broker.step(.cameraAppeared(camera, found, seat: seat))
        // That may have been said while the core did not know the camera, by a recorder core that outlived the broker before.
        if broker.desktops.facts.isPrivate(camera) { broker.step(.privacy(camera, on: true)) }
        if outside != nil { broker.step(.heldOutside(camera, true)) }
        tellReservation()
        if isNew { broker.dispatcher.cameraObjectAdded(self) }
        if isFollowed { node.begin() }
    }

    func setPresent(_ present: Bool) {
        if present {
            // A device that is plugged in again may be able to do other things, and is asked.
            if let capabilities, !isFollowed { appear(capabilities) } else { describe() }
        } else {
            describeTimer?.arm(at: nil)
            heldOutside(by: nil)
            if isFollowed { node.end() }
            guard isPresent else { return }
            isPresent = false
            broker.step(.cameraDisappeared(camera))
        }
    }

    /// It is not plugged in, and nothing is known of it: nobody waits for it to be described.
    func isNotThere() {
        guard !isKnown else { return }
        isKnown = true
        broker.loop.defer { [self] in broker.cameras.becameKnown() }
    }

    /// A program that did not ask has the camera, or no longer has it.
    func heldOutside(by holder: String?) {
        guard holder != outside else { return }
        outside = holder
        if let holder { log(.warning, "camera “\(camera.name)” is held outside the broker by \(holder)") }
        // Before a session that waited for the other program's end is told that it is the holder now.
        broker.publisher.tellOutside(self)
        broker.step(.heldOutside(camera, holder != nil))
    }

    func switched(on: Bool) { broker.desktops.say { $0.say(privacy: camera, on: on, by: .camera(camera)) } }
}
