package import Vocabulary

/// The machine's mode by hand and by the calendar. Names, so that a reload forgets nothing.
package struct ModeWords: Hashable, Sendable, Codable {
    /// `nil`: no mode was set, or it was taken back.
    package var byHand: ByHand?
    /// The first mode whose calendar holds; `nil`: none.
    package var calendar: String?

    package struct ByHand: Hashable, Sendable, Codable {
        package var mode: String
        package var by: Mode.Setter
    }

    /// The mode in force under a policy, by its place there from 1; 0: none. A name that the policy lacks counts for
    /// nothing.
    package func place(in modes: [Mode]) -> UInt8 {
        for name in [byHand?.mode, calendar] {
            if let name, let place = modes.firstIndex(where: { $0.name == name }) { return UInt8(place + 1) }
        }
        return 0
    }
}

extension Arbiter {
    /// - Parameter name: `nil` takes the mode by hand back.
    mutating func setMode(_ name: String?, by setter: Mode.Setter) throws(Refusal) {
        // A setter without the right to the standing mode may not end it either, as long as the policy has it.
        let standing = state.modeWords.byHand.flatMap { word in policy.modes.first { $0.name == word.mode } }
        for mode in [standing, name == nil ? nil : declaredMode(name)].compactMap({ $0 }) where !mode.maySet(setter) {
            throw .mode(mode.name, isOf: mode.setBy.map(\.rawValue), not: setter.rawValue)
        }
        guard let name else {
            state.modeWords.byHand = nil
            return updateMode()
        }
        guard declaredMode(name) != nil else {
            throw .unknown("mode", name, of: policy.name, has: policy.modes.map(\.name), .modesOfThePolicy)
        }
        state.modeWords.byHand = ModeWords.ByHand(mode: name, by: setter)
        updateMode()
    }

    /// Also a name that the policy lacks: a caller sets the calendar's mode before it loads another policy.
    mutating func calendar(_ name: String?) {
        state.modeWords.calendar = name
        updateMode()
    }

    private func declaredMode(_ name: String?) -> Mode? { policy.modes.first { $0.name == name } }

    private mutating func updateMode() {
        let before = state.world.mode
        state.updateMode()
        guard state.world.mode != before else { return }
        touchAll()
        if state.policy.reads.modes { notes.prioritiesOfEverybody = true }
    }
}

extension State {
    /// A name that the policy in force lacks counts as unset, until a policy has it again.
    package mutating func updateMode() { world.mode = modeWords.place(in: policy.source.modes) }

    package var mode: Mode? { world.mode == 0 ? nil : policy.source.modes[Int(world.mode) - 1] }
}
