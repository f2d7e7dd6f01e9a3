import Vocabulary

/// Previews that are black while their session may not record (semantics.md §5).
extension Arbiter {
    /// Orders it where it is not so already.
    mutating func setSlate(
        _ isBlack: Bool, of slot: Slot<Session>, on camera: Slot<Camera>, _ notes: inout StepNotes
    ) {
        guard state.sessions[slot].has.contains(.slate) != isBlack else { return }
        state.set(.slate, isBlack, of: slot)
        notes.effects.append(
            .setSlate(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), isBlack))
    }
}

extension State {
    /// A session that takes video, and that another app beside its own keeps from recording: it sees black, so that nobody
    /// takes its preview for a recording. (An image picker in video mode, as iOS 9 documents it.)
    func isSlateDue(_ look: Look, _ access: Access) -> Bool {
        guard sessions[look.session].has.contains(.takesVideo), access.contains(.preview) else { return false }
        return look.limits.all(policy).contains {
            $0.cause == .videoDeviceNotAvailableWithMultipleForegroundApps && !$0.access.contains(.record)
        }
    }
}
