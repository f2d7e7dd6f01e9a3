import Arbiter
import Scenario

extension SimulatedCast {
    /// The policies that a simulation loads one after another: together they use every choice there is. None has a
    /// lease that a quiet phase would not outlast.
    static func policies() throws(ScenarioError) -> [Policy] {
        var policies: [Policy] = []
        for text in texts {
            let block = "policy \"\"\"\n\(text)\n[[camera]]\nid = \"side\"\nconflicts = [\"top\"]\n\"\"\"\n"
            policies.append(try Scenario.parse(block, file: "a policy of the simulation", policies: ".").world.policy)
        }
        return policies
    }

    private static let presenceRules = """
        [[cause]]
        name = "In the background"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        [[cause]]
        name = "Picker beside another app"
        when = { foreground-apps = "several", client = "picker" }
        cause = "video-device-not-available-with-multiple-foreground-apps"
        access = ["preview", "photo"]
        [[cause]]
        name = "Several apps in front"
        when = { foreground-apps = "several", multitasking = false }
        cause = "video-device-not-available-with-multiple-foreground-apps"
        """

    private static let machineRules = """
        [[cause]]
        name = "Too hot"
        when = { pressure = "critical" }
        cause = "video-device-not-available-due-to-system-pressure"
        [[cause]]
        name = "Too hot to record"
        when = { pressure = "serious" }
        cause = "video-device-not-available-due-to-system-pressure"
        access = ["preview", "photo", "configure"]
        [[cause]]
        name = "Somebody is on the phone"
        when = { microphone = "taken", uses-audio = true }
        cause = "audio-device-in-use-by-another-client"
        """

    private static let ranks = """
        [[rank]]
        name = "Evacuation"
        app = "evacuation"
        rank = "strong"
        immediate = true
        [[rank]]
        name = "The call"
        app = "call"
        rank = "strong"
        grace = "1s"
        [[rank]]
        name = "The booth"
        app = "booth"
        rank = "app"
        grace = "3s"
        min-hold = "5s"
        lease = "20s"
        [[rank]]
        name = "Everybody"
        rank = "app"
        """

    private static let texts = [
        "name = \"one-in-front\"\nsources = [\"shell\", \"login-session\"]\nranks = [\"strong\", \"app\"]\n\(presenceRules)\n\(machineRules)\n[contention]\norder = [\"focused\", \"newest\"]\ntie = \"newcomer\"",
        "name = \"focus\"\nsources = [\"shell\", \"agent\", \"self-declared\"]\nranks = [\"strong\", \"app\"]\n\(machineRules)\n\(ranks)\n[contention]\norder = [\"operator\", \"focused\", \"foreground\"]\ntie = \"holder\"\ncool-down = \"4s\"",
        "name = \"ranks\"\nranks = [\"strong\", \"app\"]\n\(machineRules)\n\(ranks)\n[contention]\norder = [\"recording\"]\ntie = \"newcomer\"\nloser = \"evict\"\ncool-down = \"2s\"",
        "name = \"refuse\"\nranks = [\"strong\", \"app\"]\n\(ranks)\n[contention]\norder = [\"oldest\"]\ntie = \"holder\"\nnewcomer = \"refuse\"\nsame-app = \"refuse\"",
        "name = \"open\"\nsources = [\"shell\"]\nranks = [\"strong\", \"app\"]\n\(presenceRules)\n\(ranks)\n[contention]\norder = [\"focused\"]\ntie = \"newcomer\"\nre-decide = \"open\"",
        "name = \"shared\"\nsources = [\"shell\"]\nranks = [\"strong\", \"app\"]\n\(presenceRules)\n\(machineRules)\n\(ranks)\n[contention]\norder = [\"focused\"]\ntie = \"newcomer\"\nsharing = \"read-only\"",
        "name = \"watched\"\nranks = [\"strong\", \"app\"]\n\(ranks)\n[contention]\ntie = \"holder\"\nnewcomer = \"refuse\"\nsame-app = \"refuse\"\nre-decide = \"open\"\nsharing = \"read-only\"\nloser = \"evict\"",
    ]
}
