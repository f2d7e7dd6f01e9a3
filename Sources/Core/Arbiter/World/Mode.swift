package import Vocabulary

/// What was said of the machine's mode: by hand, and by the calendar. Names, so that a reload forgets nothing.
package struct ModeWords: Hashable, Sendable, Codable {
    /// Nil: nobody has set one, or it was taken back.
    package var byHand: ByHand?
    /// The first mode whose calendar holds; nil: none.
    package var calendar: String?

    package struct ByHand: Hashable, Sendable, Codable {
        package var mode: String
        package var by: Mode.Setter
    }

    /// The mode in force under a policy, by its place there from 1; 0: none. A name that the policy lacks says nothing.
    package func place(in modes: [Mode]) -> UInt8 {
        for name in [byHand?.mode, calendar] {
            if let name, let place = modes.firstIndex(where: { $0.name == name }) { return UInt8(place + 1) }
        }
        return 0
    }
}

/// The machine's mode: what was set by hand, what the calendar says, and which of the two is in force.
extension Arbiter {
    /// - Parameter name: nil: the one that was set by hand is taken back.
    mutating func setMode(_ name: String?, by setter: Mode.Setter) throws(Refusal) {
        // Whoever may not set the one that stands may not end it either, as long as the policy has it.
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

    /// Also a name that the policy lacks: a caller says what the calendar says before it loads another policy.
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
    /// Under the policy in force: a name that it lacks counts as not said, until a policy has it again.
    package mutating func updateMode() { world.mode = modeWords.place(in: policy.source.modes) }

    /// Nil: none is in force.
    package var mode: Mode? { world.mode == 0 ? nil : policy.source.modes[Int(world.mode) - 1] }
}
