public import ArbiterProtocol

/// One full-screen app.
public struct IOS9: HousePolicy {
    public init() {}
    public var believed: [PresenceSource] { [.shell, .loginSession] }

    public func limits(_ sight: Sight) -> [Limit] {
        var limits: [Limit] = []
        if sight.presence == .background {
            limits.append(Limit(cause: .videoDeviceNotAvailableInBackground, access: .none))
        }
        if sight.appsInFront == .several {
            limits.append(
                Limit(
                    cause: .videoDeviceNotAvailableWithMultipleForegroundApps,
                    access: sight.kind == .picker ? [.preview, .photo] : .none))
        }
        if sight.usesAudio && sight.microphoneTaken {
            limits.append(Limit(cause: .audioDeviceInUseByAnotherClient, access: .none))
        }
        return limits
    }

    public func order(_ sight: Sight, started: Int) -> [Int] { [sight.isFocused ? 0 : 1, -started] }
}

/// The focused app.
public struct Desktop: HousePolicy {
    public init() {}
    public var believed: [PresenceSource] { [.shell, .agent, .loginSession, .selfDeclared] }

    public func limits(_ sight: Sight) -> [Limit] {
        switch sight.pressure {
        case .nominal, .fair: []
        case .serious:
            [Limit(cause: .videoDeviceNotAvailableDueToSystemPressure, access: [.preview, .photo, .configure])]
        case .critical: [Limit(cause: .videoDeviceNotAvailableDueToSystemPressure, access: .none)]
        }
    }

    public func order(_ sight: Sight, started: Int) -> [Int] {
        [sight.isOperatorsChoice ? 0 : 1, sight.isFocused ? 0 : 1, sight.presence.isForeground ? 0 : 1]
    }
}

/// Safety before the staff's choice before calls before the booth before the attract loop.
public struct Kiosk: HousePolicy {
    public init() {}
    public var believed: [PresenceSource] { [] }
    public var ranks: [String] { ["safety", "staff", "call", "booth", "other", "attract"] }

    public func limits(_ sight: Sight) -> [Limit] {
        guard sight.pressure == .critical, sight.app != "evacuation.service" else { return [] }
        return [Limit(cause: .videoDeviceNotAvailableDueToSystemPressure, access: .none)]
    }

    public func manners(_ sight: Sight) -> Manners {
        switch sight.app {
        case "evacuation.service": return Manners(rank: 0, isImmediate: true)
        case _ where sight.isOperatorsChoice: return Manners(rank: 1, isImmediate: true)
        case "intercom.service": return Manners(rank: 2, lease: .seconds(900))
        case "photobooth.service":
            return Manners(rank: 3, grace: .seconds(5), protection: .seconds(10), lease: .seconds(180))
        case "attract.service": return Manners(rank: 5)
        default: return Manners(rank: 4)
        }
    }
}
