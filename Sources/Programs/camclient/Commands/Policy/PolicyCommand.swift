import ArgumentParser

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Check policy files, look at them, and try them out.",
        discussion: """
            A policy says who may have a camera; docs/policy.md has the format. No broker is needed, unless a \
            subcommand says so.
            Examples:
              camclient policy check policies/kiosk.toml
              camclient policy show
              camclient policy verify policies/kiosk.toml
              camclient policy diff policies/ios9.toml policies/ipados16.toml
              camclient policy report policies/kiosk.toml --html kiosk.html
              camclient policy play policies
              camclient policy load kiosk-new.toml
            """,
        subcommands: [
            PolicyCheck.self, PolicyShow.self, PolicyTest.self, PolicyVerify.self, PolicyDiff.self,
            PolicyHashCommand.self, PolicyLoad.self, PolicyReportCommand.self, PolicyPlay.self,
        ])
}
