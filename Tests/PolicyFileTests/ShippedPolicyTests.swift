import Arbiter
import ArbiterProtocol
import Glibc
import PolicyFile
import Testing
import TomlFile

/// Files of the checkout that tests read: the package's folder is two above this file's.
enum Checkout {
    static func path(_ name: String, here: String = #filePath) -> String {
        let parts = here.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return parts.joined(separator: "/") + "/" + name
    }
}

@Suite("The policies that ship")
struct ShippedPolicyTests {
    /// What decides; the statements are `policy verify`'s business.
    private func rules(_ file: String) throws -> Policy {
        var policy = try PolicyFile.load(path: Checkout.path(file))
        policy.statements = []
        return policy
    }

    @Test("ios9.toml says that one full-screen app has the camera")
    func ios9() throws {
        let policy = try rules("policies/ios9.toml")
        let several = FactTest.foregroundApps(.several)
        #expect(
            policy
                == Policy(
                    name: "ios9",
                    summary: "One full-screen app has the camera; a second app in front interrupts everybody.",
                    sources: [.shell, .loginSession],
                    causeRules: [
                        CauseRule(
                            name: "In the background", when: [.foreground(false)],
                            cause: .videoDeviceNotAvailableInBackground),
                        CauseRule(
                            name: "Picker beside another app", when: [several, .client(.picker)],
                            cause: .videoDeviceNotAvailableWithMultipleForegroundApps, access: [.preview, .photo]),
                        CauseRule(
                            name: "Several apps in front", when: [several],
                            cause: .videoDeviceNotAvailableWithMultipleForegroundApps),
                        CauseRule(
                            name: "Somebody is on the phone", when: [.microphoneTaken(true), .usesAudio(true)],
                            cause: .audioDeviceInUseByAnotherClient),
                    ],
                    contention: Contention(order: [.focused, .newest], tie: .newcomer)))
    }

    @Test("desktop.toml says that the focused app has the camera")
    func desktop() throws {
        let policy = try rules("policies/desktop.toml")
        #expect(
            policy
                == Policy(
                    name: "desktop", summary: "The focused app has the camera; the user's other apps wait for it.",
                    sources: [.shell, .agent, .loginSession, .selfDeclared],
                    causeRules: [
                        CauseRule(
                            name: "The machine is about to throttle everything", when: [.pressure(atLeast: .critical)],
                            cause: .videoDeviceNotAvailableDueToSystemPressure),
                        CauseRule(
                            name: "Too hot to record", when: [.pressure(atLeast: .serious)],
                            cause: .videoDeviceNotAvailableDueToSystemPressure,
                            access: [.preview, .photo, .configure]),
                    ],
                    contention: Contention(order: [.operatorChosen, .focused, .foreground], tie: .holder),
                    pressureSettle: .seconds(5)))
    }

    @Test("kiosk.toml ranks safety before the staff, calls, the booth, and the attract loop last")
    func kiosk() throws {
        let policy = try rules("policies/kiosk.toml")
        #expect(
            policy
                == Policy(
                    name: "kiosk",
                    summary: "Safety before the staff before calls before the photo booth before the attract loop.",
                    sources: [],
                    rights: Rights(
                        services: [
                            "evacuation.service", "intercom.service", "photobooth.service", "attract.service",
                        ]),
                    causeRules: [
                        CauseRule(
                            name: "The evacuation camera stays on in any heat",
                            when: [.pressure(atLeast: .critical), .app("evacuation.service")],
                            cause: .videoDeviceNotAvailableDueToSystemPressure, access: .all),
                        CauseRule(
                            name: "The cabinet is too hot", when: [.pressure(atLeast: .critical)],
                            cause: .videoDeviceNotAvailableDueToSystemPressure),
                    ],
                    ranks: ["safety", "staff", "call", "booth", "other", "attract"],
                    rankRules: [
                        RankRule(
                            name: "Evacuation camera", when: [.app("evacuation.service")], rank: 0, isImmediate: true),
                        RankRule(
                            name: "Chosen by the staff", when: [.operatorChosen(true)], rank: 1, isImmediate: true),
                        RankRule(
                            name: "The intercom", when: [.app("intercom.service")], rank: 2, lease: .seconds(900)),
                        RankRule(
                            name: "Photo booth", when: [.app("photobooth.service")], rank: 3, grace: .seconds(5),
                            minHold: .seconds(10), lease: .seconds(180)),
                        RankRule(name: "Attract loop", when: [.app("attract.service")], rank: 5),
                        RankRule(name: "Everything else", rank: 4),
                    ],
                    contention: Contention(order: [], tie: .holder, coolDown: .seconds(10))))
    }
}

extension Checkout {
    static func bytes(_ name: String) throws -> [UInt8] {
        let file = try #require(fopen(path(name), "r"), "\(name) is missing")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        while case let byte = fgetc(file), byte != EOF { bytes.append(UInt8(byte)) }
        return bytes
    }
}
