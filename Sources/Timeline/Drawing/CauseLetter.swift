import ArbiterProtocol

extension Cause {
    /// A letter for where its name does not fit: it tells causes apart without colours, and every legend explains it.
    var letter: Character {
        switch self {
        case .videoDeviceInUseByAnotherClient: "D"
        case .audioDeviceInUseByAnotherClient: "A"
        case .videoDeviceNotAvailableInBackground: "B"
        case .videoDeviceNotAvailableWithMultipleForegroundApps: "M"
        case .videoDeviceNotAvailableDueToSystemPressure: "H"
        case .sensitiveContentMitigationActivated: "C"
        case .videoDeviceDisconnected: "U"
        case .videoDeviceBlockedByPrivacy: "P"
        case .loginSessionInactive: "L"
        case .systemSleep: "Z"
        case .deviceError: "E"
        case .recorderReset: "R"
        case .brokerRestarted: "X"
        case .waitingForPermission: "Q"
        }
    }
}
