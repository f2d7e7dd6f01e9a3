package import Vocabulary

/// The names that a policy's rules mention, as small numbers from 1. Any other name is 0.
package struct PolicyNames: Sendable {
    /// The number of each test's name, at its place in `FactBits.who`.
    private let numbers: [FactTest: UInt64]
    /// The cameras of the policy's table and of its conflicts, sorted.
    let cameras: [CameraID]
    private let attributes: [Attribute]
    private let modes: [String]

    init(_ policy: Policy) {
        let tests =
            policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)
            + policy.statements.flatMap(\.testsRead)
        var (numbers, counts): ([FactTest: UInt64], [UInt64: UInt64]) = ([:], [:])
        for test in tests {
            guard let place = FactBits.Who.place(of: test), numbers[test] == nil else { continue }
            counts[place, default: 0] += 1
            numbers[test] = counts[place, default: 0] << place
        }
        self.numbers = numbers
        cameras = Array(Set(policy.cameras.flatMap { [$0.camera] + $0.conflicts })).sorted()
        attributes = policy.attributes
        modes = policy.modes.map(\.name)
        precondition(modes.count <= Bound.modesMax, "a policy declares at most \(Bound.modesMax) modes")
        precondition(cameras.count <= Bound.camerasMax, "a policy names at most \(Bound.camerasMax) cameras")
        precondition(
            attributes.count <= Bound.attributesMax
                && attributes.allSatisfy { $0.values.count <= Bound.attributeValuesMax },
            "a policy declares at most \(Bound.attributesMax) attributes of \(Bound.attributeValuesMax) values")
    }

    func who(app: String?, claimedApp: String?, user: UInt32) -> UInt64 {
        number(app.map { .app($0) }) | number(claimedApp.map { .claimedApp($0) }) | number(.user(user))
    }

    func who(camera: CameraID) -> UInt64 { number(.camera(camera)) }

    private func number(_ test: FactTest?) -> UInt64 { test.flatMap { numbers[$0] } ?? 0 }

    /// The camera's place in the policy's table; negative: the policy does not name it.
    func place(of camera: CameraID) -> Int8 { Int8(cameras.firstIndex(of: camera) ?? -1) }

    package func condition(_ tests: [FactTest]) -> Condition {
        var condition = Condition()
        for test in tests { require(test, &condition) }
        return condition
    }

    private func require(_ test: FactTest, _ condition: inout Condition) {
        func flag(_ field: FactBits.Field, _ wanted: Bool) { condition.require(field, wanted ? 1 : 0) }
        switch test {
        case .app, .claimedApp, .user, .camera: condition.require(who: test, number(test))
        case .loginSession(let state): condition.require(.login, state.code)
        case .foreground(let inFront): flag(.foreground, inFront)
        case .layout(let layout): condition.require(.layout, layout.code)
        case .focused(let focused): flag(.focused, focused)
        case .foregroundApps(let count): condition.require(.inFront, count.code)
        case .client(let kind): condition.require(.kind, kind.code)
        case .multitasking(let optedIn): flag(.multitasking, optedIn)
        case .position(let position): condition.require(.position, position.code)
        case .usesAudio(let uses): flag(.usesAudio, uses)
        case .microphoneTaken(let taken): flag(.microphone, taken)
        case .pressure(let level): if level > .nominal { condition.require(Self.pressureField(level), 1) }
        case .recording(let recording): flag(.recording, recording)
        case .bidIsNew(let isNew): flag(.bidIsNew, isNew)
        case .operatorChosen(let chosen): flag(.chosen, chosen)
        case .attribute(let name, let value):
            // A test of an undeclared name never holds; a file with such a test is refused.
            guard let index = attributes.firstIndex(where: { $0.name == name }),
                let place = attributes[index].values.firstIndex(of: value)
            else { return condition.requireTheImpossible() }
            condition.require(attribute: index, place)
        case .mode(nil): condition.require(.mode, 0)
        case .mode(let name?):
            guard let place = modes.firstIndex(of: name) else { return condition.requireTheImpossible() }
            condition.require(.mode, UInt64(place + 1))
        }
    }

    /// "At least this level" is one bit of the thermometer.
    private static func pressureField(_ level: SystemPressure) -> FactBits.Field {
        FactBits.Field(FactBits.Field.pressure.shift + UInt64(level.rawValue) - 1, 1)
    }
}

extension Facts.LoginState { var code: UInt64 { self == .none ? 0 : self == .active ? 1 : 2 } }
extension Facts.ForegroundApps { var code: UInt64 { self == .none ? 0 : self == .one ? 1 : 2 } }
extension ClientKind { var code: UInt64 { self == .app ? 0 : self == .picker ? 1 : 2 } }
extension CameraPosition { var code: UInt64 { self == .external ? 0 : self == .front ? 1 : 2 } }

extension Presence.Layout {
    /// From 1: 0 is no layout, in the background.
    var code: UInt64 { self == .fullscreen ? 1 : self == .split ? 2 : self == .slideOver ? 3 : 4 }
}

/// A bit for each reached level above `nominal`.
extension SystemPressure { var thermometer: UInt64 { (1 << UInt64(rawValue)) - 1 } }
