import ArgumentParser

/// Everything about simulated cameras as files.
struct CameraCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camera",
        abstract: "Check the files that describe simulated cameras.",
        discussion: """
            A file says what a simulated camera can do; docs/simulated-cameras.md has the format. No broker is needed.
            Example:
              camclient camera check my-webcam.toml
            """,
        subcommands: [CameraCheck.self])
}
