import ArbiterProtocol
import ArgumentParser
import Camarb

struct Configure: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Set keys on a session of its own that runs, and show what is in force.",
        usage: "camclient configure [options] <key=value> ...",
        discussion: """
            The settings belong to the session and end with it; the command shows what the camera makes of them.
            Example:
              camclient configure activeFormat="420v 1920x1080@30" frameRate=15
            """)

    @Argument(
        help: ArgumentHelp(
            "Settings: \(ConfigurationKey.allCases.filter { !$0.isReadOnly }.map(\.rawValue).joined(separator: ", ")).",
            valueName: "key=value"), completion: .settings) var batch: [String]
    @OptionGroup var session: SessionOptions
    @Option(help: ArgumentHelp("How long to wait for the camera, and then for the settings.", valueName: "time"))
    var timeout = TimeArgument.tenSeconds
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try readSettings(batch)
        let client = try connection.connect()
        try await session.declare(client)
        let change = try await client.withSession(camera: session.camera, configuration: try session.configuration()) {
            handle in
            let inbox = Inbox(handle.notices)
            try await handle.startRunning()
            _ = try await inbox.waitUntilRunning(within: timeout.duration)
            try await handle.configure(settings)
            return try await inbox.wait(for: "applied configuration", within: timeout.duration) { event in
                guard case .configurationApplied(let change) = event, change.by == .client else {
                    return nil as ConfigurationChange?
                }
                return change
            }
        }
        if output.json {
            return Output.json([
                "asked": change.asked.wire.json, "inForce": change.inForce.wire.json, "by": .string(change.by.rawValue),
            ])
        }
        for line in columns(
            [["KEY", "ASKED", "IN FORCE"]]
                + change.inForce.ordered.map { key, value in
                    [key.rawValue, change.asked[key]?.description ?? "-", value.description]
                })
        { Output.line(line) }
    }
}
