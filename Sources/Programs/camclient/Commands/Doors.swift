import ArbiterProtocol
import ArgumentParser
import Glibc
import System
import Workbench

struct AppsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List programs that use cameras, and by which door they come to the broker.",
        discussion: """
            The list has programs that your desktop shows, and those of $PATH. The last column has the evidence that a program \
            uses cameras: a known name, its category or description, a library for cameras that it links, or /dev/video among its words. \
            A library that a program loads only when it runs is not seen, nor a program that a script starts.
            Examples:
              camclient apps
              camclient apps --json | jq -r 'select(.v4l2 == "off").program'
            """)

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let list = try DoorList.read()
        var search = ProgramSearch()
        let programs = search.programs()
        let unknown = list.entries.filter { entry in
            entry != DoorList.all && !programs.contains { $0.name.isMeant(by: entry) }
        }
        let rows =
            programs.map { program in
                [
                    program.name.names[0].printable, program.door(list), (program.name.file ?? "-").printable,
                    program.reasons.joined(separator: ", ").printable,
                ]
            } + unknown.map { [$0.printable, "V4L2 door on", "-", "listed"] }
        if rows.isEmpty, !output.json { return Output.notice("No program that uses cameras was found.") }
        output.list(
            programs.map { $0.json(list) }
                + unknown.map { ["program": $0, "v4l2": "on", "reasons": ["listed"]] as JSONObject },
            columns([["PROGRAM", "DOOR", "FILE", "BASED ON"]] + rows))
        if !output.json { list.noticeWhatIsMissing() }
    }
}

struct AppsOn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract:
            "Put the V4L2 door before programs; as root with --all: keep the machine's cameras for the broker again.",
        discussion: """
            For a user: writes names into the user's own list, ~/.config/camarb/apps, which the door itself reads in each program that \
            starts; --all writes *. Programs see it from their next start on, in a login session that began with an empty list from \
            the next login on.
            For root, who is never served by the door, --all is about the machine: `apps on --all` takes back what `apps off --all` \
            has given.
            Examples:
              camclient apps on cheese
              camclient apps on org.gnome.Cheese        by its desktop's name
              camclient apps on /opt/zoom/zoom          by its file
              camclient apps on --all
              sudo camclient apps on --all              the cameras are the broker's again
            """)

    @OptionGroup var choice: DoorChoice

    func run() async throws {
        let list = try choice.change(
            machine: true,
            "The machine's cameras are the broker's: programs come through it. One that has a camera open keeps it until it closes it."
        ) { list, program throws(Failure) in
            guard let program else {
                if !list.isForAll { try list.add(DoorList.all) }
                return
            }
            try program.mustBeInReach()
            if !list.has(program.name) { try list.add(program.entry) }
        }
        list?.noticeWhatIsMissing()
    }
}

struct AppsOff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off",
        abstract:
            "Take the V4L2 door away from programs; as root with --all: give the machine's cameras to everybody again.",
        discussion: """
            For a user: takes names out of the user's own list, ~/.config/camarb/apps; --all takes all of them out. The programs then \
            open the machine's nodes themselves, and get Permission denied while the nodes are the broker's.
            For root --all is about the machine: it switches off the rules by which udev keeps cameras for the broker \
            (72-camarb.rules and 74-camarb.rules, by links to /dev/null in /etc/udev/rules.d), at once and until `apps on --all`. \
            Every program then opens cameras as without camarb; sessions of the broker wait for those that do, and `camclient \
            status` says bypassable.
            Examples:
              camclient apps off cheese
              camclient apps off --all
              sudo camclient apps off --all       everybody opens cameras as before
            """)

    @OptionGroup var choice: DoorChoice

    func run() async throws {
        _ = try choice.change(
            machine: false,
            "The machine's cameras are everybody's again, past the broker. To take them back: camclient apps on --all"
        ) { list, program throws(Failure) in
            guard let program else { return list.removeAll() }
            guard !list.isForAll else {
                throw Failure(
                    .answerIsNo,
                    "\(program.said) is on as all programs are, by the line *. To name those that shall have it: camclient apps off --all, "
                        + "and camclient apps on with each.")
            }
            list.remove(program.name)
        }
    }
}

struct DoorChoice: ParsableArguments {
    @Argument(
        help: .value("program", "Names, whole paths, or desktops' names of programs, as `camclient apps` shows them."))
    var programs: [String] = []
    @Flag(help: "For a user: all programs of the user. For root: the cameras of the machine, for everybody.") var all =
        false

    func validate() throws {
        guard programs.isEmpty == all else {
            throw ValidationError("Name programs, or give --all; see camclient apps for those there are.")
        }
    }

    /// Changes the user's list, and returns it; for root it is about the machine.
    func change(
        machine isOn: Bool, _ notice: String,
        _ change: (inout DoorList, DoorTarget?) throws(Failure) -> Void
    ) throws(Failure) -> DoorList? {
        guard geteuid() == 0 else {
            return try DoorList.change { list throws(Failure) in
                guard !programs.isEmpty else { return try change(&list, nil) }
                let (search, entries) = (ProgramSearch(), DesktopEntry.installed())
                for name in programs { try change(&list, try DoorTarget(name, search, entries)) }
            }
        }
        guard all else {
            throw Failure(
                .usage,
                "The V4L2 door is never on for root, whose list would say nothing. Whose programs are meant runs this; "
                    + "for the cameras of the machine there is --all.")
        }
        try MachineProtection.set(isOn)
        Output.notice(notice)
        return nil
    }
}

struct DoorTarget {
    let name: DoorName
    let entry: String
    let said: String
    private let outOfReach: String?
    private let isScriptOf: String?

    init(_ said: String, _ search: ProgramSearch, _ entries: [DesktopEntry]) throws(Failure) {
        self.said = said
        guard !said.trimmed.isEmpty, said.trimmed == said, !said.hasPrefix("#"), !said.contains(where: \.isNewline),
            said != DoorList.all
        else {
            throw Failure(
                .usage,
                "“\(said)” cannot stand in the list: a line is a name or a whole path, without # before it. For all: --all"
            )
        }
        let asDesktop = said.hasSuffix(".desktop") ? String(said.dropLast(".desktop".count)) : said
        let desktop = entries.first { $0.id == asDesktop }
        let command = desktop?.command.first
        let path =
            said.contains("/")
            ? said : search.path(of: said) ?? command.flatMap { $0.contains("/") ? $0 : search.path(of: $0) }
        if let path, let program = search.program(at: path, entry: desktop) {
            isScriptOf = program.runsAs
            outOfReach = desktop?.sandbox.map { "sandboxed by \($0)" } ?? program.outOfReach
            name = program.name
            // By the path, where one was given: the door compares it with where the file really is.
            entry = said.contains("/") ? program.name.file ?? program.entry : program.entry
            return
        }
        isScriptOf = nil
        outOfReach = desktop?.sandbox.map { "sandboxed by \($0)" }
        guard let path, let file = resolved(path) else {
            guard !said.contains("/") else { throw Failure.file(said, "cannot be found", errno) }
            // It may be installed later, or lie where nobody looks.
            let known = KnownProgram.of(said)?.file ?? said
            if KnownProgram.of(said) == nil {
                Output.notice("\(said) is not in $PATH, nor on your desktop. The list takes it all the same.")
            }
            name = DoorName(names: [known], file: nil)
            entry = known
            return
        }
        name = DoorName(names: [path.fileName, file.fileName], file: file)
        entry = said.contains("/") ? file : path.fileName
    }

    func mustBeInReach() throws(Failure) {
        if let outOfReach {
            throw Failure(
                .answerIsNo, "\(said) is out of the V4L2 door's reach: it is \(outOfReach). Nothing was changed.")
        }
        if let isScriptOf, said != isScriptOf {
            throw Failure(
                .answerIsNo,
                "\(said) is a script of \(isScriptOf), and the door is put before programs. For all that \(isScriptOf) runs: "
                    + "camclient apps on \(isScriptOf). Nothing was changed.")
        }
    }
}

extension DoorList {
    fileprivate func noticeWhatIsMissing() {
        if geteuid() == 0 {
            if MachineProtection.isInstalled, !MachineProtection.isOn {
                Output.notice(
                    "The machine's cameras are everybody's, past the broker. To take them back: camclient apps on --all"
                )
            }
        } else if !entries.isEmpty, environment("CAMARB_V4L2_LIST") != "1" {
            Output.notice(
                "What you start here has no door yet: your login session began without a list. It is on from your next login on, and "
                    + "at once for what systemd starts: systemctl --user daemon-reload")
        }
    }
}

extension InstalledProgram {
    fileprivate func nodes(_ list: DoorList) -> String {
        if asksBroker || !usesNodes || outOfReach != nil { return "none" }
        if geteuid() == 0 { return "not for root" }
        return list.has(name) ? "on" : "off"
    }

    fileprivate func door(_ list: DoorList) -> String {
        if asksBroker { return "camarb" }
        var doors: [String] = []
        if let outOfReach {
            doors.append("none: \(outOfReach)")
        } else if usesNodes {
            doors.append("V4L2 door \(nodes(list))" + (runsAs.map { ", as \($0)" } ?? ""))
        }
        if usesPipeWire { doors.append("PipeWire door") }
        return doors.joined(separator: "; ").printable
    }

    fileprivate func json(_ list: DoorList) -> JSONObject {
        [
            "program": name.names[0], "file": name.file, "desktop": desktopID, "title": title, "camarb": asksBroker,
            "v4l2": nodes(list), "outOfReach": outOfReach, "runsAs": runsAs, "pipewire": usesPipeWire,
            "reasons": reasons,
        ]
    }
}

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
        ], defaultSubcommand: AppsList.self)
}
