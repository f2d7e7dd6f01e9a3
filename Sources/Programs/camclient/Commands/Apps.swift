import ArbiterProtocol
import ArgumentParser
import Glibc
import System
import WorkbenchCommands

struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List programs that use cameras, with their doors to the broker; allow and deny apps.",
        discussion: """
            Programs that were written for /dev/video* or PipeWire know no broker. They
            reach it through a door:
              camarb         no door: the program uses libcamarb
              V4L2 door      /dev/video* are the broker's cameras; on or off for each
                             program, by `apps on` and `apps off`
              PipeWire door  the cameras of PipeWire and of portals are the broker's;
                             camagent is that door
              none           out of the V4L2 door's reach: static, setuid, sandboxed,
                             or for another processor

            Where the policy has apps = "ask", your answer about each app is kept:
            `apps answers` lists the answers; allow, deny and forget change them.

            Examples:
              camclient apps                    programs, and their doors
              camclient apps on cheese obs      from their next start on
              camclient apps off --all          your list is empty again
              sudo camclient apps off --all     the machine's cameras are everybody's
              camarb-v4l2 ffplay /dev/video0    once, without the list
            """,
        subcommands: [
            AppsList.self, AppsOn.self, AppsOff.self, AppAnswers.self, AppAllow.self, AppDeny.self, AppForget.self,
        ], defaultSubcommand: AppsList.self)
}

struct AppsList: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List programs that use cameras, and their doors to the broker.",
        discussion: """
            Searches the programs of your desktop, and those of $PATH. The last column has the reason why a program is listed: a \
            known name, a category or description, a linked library for cameras, or /dev/video in its file. \
            Libraries that a program loads only when it runs, and programs that its script starts, are not seen.
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
            columns([["PROGRAM", "DOOR", "FILE", "BASED ON"]] + rows, folded: true))
        if !output.json { list.noticeWhatIsMissing() }
    }
}

struct AppsOn: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Switch the V4L2 door on for programs; as root with --all: keep the cameras for the broker.",
        discussion: """
            For a user: adds names to the user's own list, ~/.config/camarb/apps, which the door itself reads; --all adds *. A \
            program has the door from its next start on; where the login session began with an empty list, from the next login on.
            For root, who never has the door, --all is about the machine: it takes `apps off --all` back.
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
        abstract: "Switch the V4L2 door off for programs; as root with --all: give the cameras to everybody.",
        discussion: """
            For a user: removes names from the user's own list, ~/.config/camarb/apps; --all removes every name. The programs then \
            open the machine's nodes themselves, and fail with Permission denied while these are the broker's.
            For root --all is about the machine: links to /dev/null in /etc/udev/rules.d switch off the udev rules that keep \
            cameras for the broker (72-camarb.rules and 74-camarb.rules) until `apps on --all`. Every program then opens \
            cameras as without camarb; sessions of the broker wait for it, and `camclient status` shows bypassable.
            Examples:
              camclient apps off cheese
              camclient apps off --all
              sudo camclient apps off --all       every program opens cameras as before
            """)

    @OptionGroup var choice: DoorChoice

    func run() async throws {
        _ = try choice.change(
            machine: false,
            "The machine's cameras are everybody's again, past the broker. To take them back: camclient apps on --all"
        ) { list, program throws(Failure) in
            guard let program else { return list.remove() }
            guard !list.isForAll else {
                throw Failure(
                    .answerIsNo,
                    "\(program.said) is on as all programs are, by the line *. To name those that shall have it: camclient apps off --all, "
                        + "and camclient apps on with each.")
            }
            list.remove(where: program.name.isMeant)
        }
    }
}

struct DoorChoice: ParsableArguments {
    @Argument(help: .value("program", "Names, whole paths, or desktops' names of programs, as in `camclient apps`."))
    var programs: [String] = []
    @Flag(help: "For a user: all programs of the user. For root: the cameras of the machine, for everybody.")
    var all = false

    func validate() throws {
        guard programs.isEmpty == all else {
            throw ValidationError("Name programs, or give --all; see camclient apps for those there are.")
        }
    }

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
                "The V4L2 door is never on for root, whose list would have no effect. Run this as the programs' user; "
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
    private var outOfReach: String?
    private var isScriptOf: String?

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
        let isPath = said.contains("/")
        let asDesktop = said.hasSuffix(".desktop") ? String(said.dropLast(".desktop".count)) : said
        let desktop = entries.first { $0.id == asDesktop }
        outOfReach = desktop?.sandbox.map { "sandboxed by \($0)" }
        let command = desktop?.command.first
        let path =
            isPath ? said : search.path(of: said) ?? command.flatMap { $0.contains("/") ? $0 : search.path(of: $0) }
        if let path, let program = search.program(at: path, entry: desktop) {
            isScriptOf = program.runsAs
            outOfReach = outOfReach ?? program.outOfReach
            name = program.name
            // The door compares a path with the real file's.
            entry = isPath ? program.name.file ?? program.entry : program.entry
        } else if let path, let file = resolved(path) {
            name = DoorName(names: [path.fileName, file.fileName], file: file)
            entry = isPath ? file : path.fileName
        } else if isPath {
            throw Failure.file(said, "cannot be found", errno)
        } else {
            // The program may be installed later, or in another folder.
            let known = KnownProgram.of(said)
            if known == nil {
                Output.notice("\(said) is not in $PATH, nor on your desktop. The list takes it all the same.")
            }
            entry = known?.file ?? said
            name = DoorName(names: [entry], file: nil)
        }
    }

    func mustBeInReach() throws(Failure) {
        if let outOfReach {
            throw Failure(
                .answerIsNo, "\(said) is out of the V4L2 door's reach: it is \(outOfReach). Nothing was changed.")
        }
        guard let isScriptOf, said != isScriptOf else { return }
        throw Failure(
            .answerIsNo,
            "\(said) is a script of \(isScriptOf), and the door is put before programs. For all that \(isScriptOf) runs: "
                + "camclient apps on \(isScriptOf). Nothing was changed.")
    }
}

extension DoorList {
    fileprivate func noticeWhatIsMissing() {
        if geteuid() == 0 {
            guard MachineProtection.isInstalled, !MachineProtection.isOn else { return }
            Output.notice(
                "The machine's cameras are everybody's, past the broker. To take them back: camclient apps on --all")
        } else if !entries.isEmpty, environment("CAMARB_V4L2_LIST") != "1" {
            Output.notice(
                "What you start here has no door yet: your login session began without a list. It is on from your next login on, and "
                    + "at once for what systemd starts: systemctl --user daemon-reload")
        }
    }
}

extension InstalledProgram {
    private func nodes(_ list: DoorList) -> String {
        if asksBroker || !usesNodes || outOfReach != nil { return "none" }
        if geteuid() == 0 { return "not for root" }
        return list.has(name) ? "on" : "off"
    }

    fileprivate func door(_ list: DoorList) -> String {
        if asksBroker { return "camarb" }
        let node = usesNodes ? "V4L2 door \(nodes(list))" + (runsAs.map { ", as \($0)" } ?? "") : nil
        return [outOfReach.map { "none: \($0)" } ?? node, usesPipeWire ? "PipeWire door" : nil].compactMap(\.self)
            .joined(separator: "; ").printable
    }

    fileprivate func json(_ list: DoorList) -> JSONObject {
        [
            "program": name.names[0], "file": name.file, "desktop": desktopID, "title": title, "camarb": asksBroker,
            "v4l2": nodes(list), "outOfReach": outOfReach, "runsAs": runsAs, "pipewire": usesPipeWire,
            "reasons": reasons,
        ]
    }
}
