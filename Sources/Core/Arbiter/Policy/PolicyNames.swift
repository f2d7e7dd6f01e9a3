package import Vocabulary

/// The names that a policy's rules mention, as small numbers from 1. Any other name is 0, and all of those look the
/// same to every rule.
package struct PolicyNames: Sendable {
    private let apps: [String: UInt64]
    private let claimedApps: [String: UInt64]
    private let users: [UInt32: UInt64]
    private let mentionedCameras: [CameraID: UInt64]
    /// The cameras of the policy's table and of its conflicts, sorted.
    let cameras: [CameraID]
    private let attributes: [Attribute]
    private let modes: [String]

    init(_ policy: Policy) {
        let tests =
            policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)
            + policy.statements.flatMap(\.testsRead)
        apps = Self.numbers(tests) { if case .app(let name) = $0 { name } else { nil } }
        claimedApps = Self.numbers(tests) { if case .claimedApp(let name) = $0 { name } else { nil } }
        users = Self.numbers(tests) { if case .user(let user) = $0 { user } else { nil } }
        mentionedCameras = Self.numbers(tests) { if case .camera(let camera) = $0 { camera } else { nil } }
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

    private static func numbers<Name: Hashable>(_ tests: [FactTest], _ name: (FactTest) -> Name?) -> [Name: UInt64] {
        var numbers: [Name: UInt64] = [:]
        for test in tests {
            if let name = name(test), numbers[name] == nil { numbers[name] = UInt64(numbers.count + 1) }
        }
        return numbers
    }

    func who(app: String?, claimedApp: String?, user: UInt32) -> UInt64 {
        (app.flatMap { apps[$0] } ?? 0) << UInt64(FactBits.Who.app)
            | (claimedApp.flatMap { claimedApps[$0] } ?? 0) << UInt64(FactBits.Who.claimedApp)
            | (users[user] ?? 0) << UInt64(FactBits.Who.user)
    }

    func who(camera: CameraID) -> UInt64 { (mentionedCameras[camera] ?? 0) << UInt64(FactBits.Who.camera) }

    /// Its place in the policy's table; negative: the policy says nothing of it.
    func place(of camera: CameraID) -> Int8 { Int8(cameras.firstIndex(of: camera) ?? -1) }

    package func condition(_ tests: [FactTest]) -> Condition {
        var condition = Condition()
        for test in tests { require(test, &condition) }
        return condition
    }

    private func require(_ test: FactTest, _ condition: inout Condition) {
        func flag(_ field: FactBits.Field, _ wanted: Bool) { condition.require(field, wanted ? 1 : 0) }
        func who(_ shift: Int, _ code: UInt64?) { condition.require(who: shift, code ?? 0) }
        switch test {
        case .app(let name): who(FactBits.Who.app, apps[name])
        case .claimedApp(let name): who(FactBits.Who.claimedApp, claimedApps[name])
        case .user(let user): who(FactBits.Who.user, users[user])
        case .camera(let camera): who(FactBits.Who.camera, mentionedCameras[camera])
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
            // A test of what the policy does not declare never holds; a file with one is refused.
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

extension Facts.LoginState {
    var code: UInt64 {
        switch self {
        case .none: 0
        case .active: 1
        case .inactive: 2
        }
    }
}

extension Facts.ForegroundApps {
    var code: UInt64 {
        switch self {
        case .none: 0
        case .one: 1
        case .several: 2
        }
    }
}

extension Presence.Layout {
    /// From 1: 0 is no layout, in the background.
    var code: UInt64 {
        switch self {
        case .fullscreen: 1
        case .split: 2
        case .slideOver: 3
        case .pictureInPicture: 4
        }
    }
}

extension ClientKind {
    var code: UInt64 {
        switch self {
        case .app: 0
        case .picker: 1
        case .voip: 2
        }
    }
}

extension CameraPosition {
    var code: UInt64 {
        switch self {
        case .external: 0
        case .front: 1
        case .back: 2
        }
    }
}

extension SystemPressure {
    /// A bit for each level above `nominal` that is reached.
    var thermometer: UInt64 { (1 << UInt64(rawValue)) - 1 }
}
