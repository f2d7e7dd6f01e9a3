public import ArbiterProtocol

/// A policy as plain Swift, written by hand from what the policy is meant to do; the TOML file of the
/// same name is another way to say it, and both have to agree.
public protocol HousePolicy: Sendable {
    /// Who is believed about presence, the most trusted first.
    var believed: [PresenceSource] { get }
    var pressureSettle: Duration { get }
    /// What limits a session, and what is left of its access.
    func limits(_ look: Look) -> [Limit]
    /// Compared from left to right; greater is stronger.
    func strength(_ look: Look) -> [Int]
    func manners(_ look: Look) -> Manners
}

public struct Limit: Sendable {
    public var cause: Cause
    public var access: Access
}

/// How gently a holder is treated.
public struct Manners: Sendable {
    /// Nothing below stands in its way when it is the one that comes.
    public var overrides = false
    public var grace = Duration.zero
    public var protection = Duration.zero
    public var lease: Duration?
}

extension HousePolicy {
    public var pressureSettle: Duration { .seconds(5) }
    public func manners(_: Look) -> Manners { Manners() }
}

/// One full-screen app.
public struct IOS9: HousePolicy {
    public init() {}
    public var believed: [PresenceSource] { [.shell, .loginSession] }

    public func limits(_ look: Look) -> [Limit] {
        var limits: [Limit] = []
        if look.presence == .background {
            limits.append(Limit(cause: .videoDeviceNotAvailableInBackground, access: .none))
        }
        if look.appsInFront > 1 {
            limits.append(
                Limit(
                    cause: .videoDeviceNotAvailableWithMultipleForegroundApps,
                    access: look.kind == .picker ? [.preview, .photo] : .none))
        }
        if look.usesAudio && look.microphoneTaken {
            limits.append(Limit(cause: .audioDeviceInUseByAnotherClient, access: .none))
        }
        return limits
    }

    public func strength(_ look: Look) -> [Int] { [look.isFocused ? 1 : 0, look.started] }
}

/// The focused app.
public struct Desktop: HousePolicy {
    public init() {}
    public var believed: [PresenceSource] { [.shell, .agent, .loginSession, .selfDeclared] }

    public func limits(_ look: Look) -> [Limit] {
        switch look.pressure {
        case .nominal, .fair: []
        case .serious:
            [Limit(cause: .videoDeviceNotAvailableDueToSystemPressure, access: [.preview, .photo, .configure])]
        case .critical: [Limit(cause: .videoDeviceNotAvailableDueToSystemPressure, access: .none)]
        }
    }

    public func strength(_ look: Look) -> [Int] {
        [look.isOperatorsChoice ? 1 : 0, look.isFocused ? 1 : 0, look.presence.isForeground ? 1 : 0]
    }
}

/// Safety before the staff's choice before calls before the booth before the attract loop.
public struct Kiosk: HousePolicy {
    public init() {}
    public var believed: [PresenceSource] { [] }

    public func limits(_ look: Look) -> [Limit] {
        guard look.pressure == .critical, look.app != "evacuation.service" else { return [] }
        return [Limit(cause: .videoDeviceNotAvailableDueToSystemPressure, access: .none)]
    }

    private func ownRank(_ look: Look) -> Int {
        switch look.app {
        case "evacuation.service": 0
        case _ where look.isOperatorsChoice: 1
        case "intercom.service": 2
        case "photobooth.service": 3
        case "attract.service": 5
        default: 4
        }
    }

    public func strength(_ look: Look) -> [Int] {
        [-max(ownRank(look), look.loweredTo)]
    }

    public func manners(_ look: Look) -> Manners {
        // Who gave up its rank gave up what comes with it.
        if look.loweredTo > ownRank(look) { return Manners() }
        switch look.app {
        case "evacuation.service": return Manners(overrides: true)
        case _ where look.isOperatorsChoice: return Manners(overrides: true)
        case "intercom.service": return Manners(lease: .seconds(900))
        case "photobooth.service": return Manners(grace: .seconds(5), protection: .seconds(10), lease: .seconds(180))
        default: return Manners()
        }
    }
}
