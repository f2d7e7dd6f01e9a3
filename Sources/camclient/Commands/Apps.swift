import ArgumentParser

/// What a user's programs may do with cameras, and how they come to the broker.
struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Which programs use cameras, by which door they come to the broker, and which of them may.",
        discussion: """
            Programs that were written for /dev/video* or PipeWire ask no broker. They
            come to it through a door:
              camarb         none: they are built on libcamarb, and ask themselves
              V4L2 door      /dev/video* are the broker's cameras; on or off for each
                             program, by `apps on` and `apps off`
              PipeWire door  what PipeWire and portals offer are the broker's cameras;
                             camagent is that door
              none           static, setuid, sandboxed, or for another processor: the
                             V4L2 door cannot be put before it

            Where the policy has apps = "ask", what you said about each app is kept:
            `apps answers` lists it; allow, deny and forget change it.

            Examples:
              camclient apps                    what there is, and what of it is on
              camclient apps on cheese obs      from their next start on
              camclient apps off --all          your list is empty again
              sudo camclient apps off --all     the machine's cameras are everybody's
              camarb-v4l2 ffplay /dev/video0    once, whatever the list says
            """,
        subcommands: [
            AppsList.self, AppsOn.self, AppsOff.self, AppAnswers.self, AppAllow.self, AppDeny.self, AppForget.self,
        ],
        defaultSubcommand: AppsList.self)
}
