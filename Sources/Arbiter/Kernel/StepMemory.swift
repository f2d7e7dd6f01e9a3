/// Memory for steps, kept between them so that a step allocates next to nothing; and the last step's effects.
package struct StepMemory {
    var notes = StepNotes()
    var seating: Seating

    package init(for arbiter: Arbiter) { seating = Seating(arbiter.state.policy) }

    package var effects: [Effect] {
        @inline(__always) _read { yield notes.effects }
    }
}

/// Some of the cameras: bits for the first rows of their table, which are nearly always all there are.
struct CameraSet: Hashable, Sendable {
    private var bits: UInt64 = 0
    private var others: [Int32] = []

    var isEmpty: Bool { bits == 0 && others.isEmpty }

    func contains(_ camera: Slot<Camera>) -> Bool {
        camera.index < 64 ? bits >> UInt64(camera.index) & 1 == 1 : others.contains(camera.index)
    }

    mutating func formUnion(_ other: CameraSet) {
        bits |= other.bits
        for camera in other.others where !others.contains(camera) { others.append(camera) }
    }

    mutating func insert(_ camera: Slot<Camera>) {
        if camera.index < 64 {
            bits |= 1 << UInt64(camera.index)
        } else if !others.contains(camera.index) {
            others.append(camera.index)
        }
    }
}
