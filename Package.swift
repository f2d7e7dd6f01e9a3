// swift-tools-version: 6.2
import PackageDescription

// Set by Tests/fuzz/run, which builds into a folder of its own: all code then counts what it passes, and one more program is
// there.
let isForFuzzing = Context.environment["CAMARB_FUZZ"] == "1"

// Set by Tests/threads/run, for ThreadSanitizer: only what has threads is there, and no program has the Swift runtime in
// itself, since the sanitizer's is a library of its own.
let isForThreads = Context.environment["CAMARB_THREADS"] == "1"
let withoutThreads: Set<String> = [
    "TraceFigures", "Agent", "AgentTests", "CPipeWire", "CSlate",
    "camagent",
    "camclient", "camplay",
    "explore",
    "arbiter-bench", "ArbiterTests", "MetricsTests", "ExplainTests", "PolicyFileTests", "ScenarioTests",
    "ExplorationTests", "TraceTests", "TimelineTests", "VideoNodesTests", "MachineLoadTests",
    "DaemonSimulation", "simulate",
]
/// A program with the Swift runtime in itself, for a linker.
let standingAlone = isForThreads ? [] : ["-static-stdlib"]
/// What the linker does for a program that a package installs. All names are bound at the start and their table is read-only
/// from then on, which costs no time (performance: "process").
let linkedForPackage = standingAlone + ["-Xlinker", "-z", "-Xlinker", "now"]

// Every Swift target: Swift 6 mode (strict concurrency), warnings are errors, and a file may only
// use what it imports itself (the explicit-import check of docs/style.md).
let strict: [SwiftSetting] =
    [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
    ] + (isForFuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])

/// - Parameter files: what lies in the target's folder and becomes part of its code.
func library(_ name: String, _ dependencies: [Target.Dependency] = [], embedding files: [String] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: files.map { .embedInCode($0) }, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

/// A program that a package installs: it carries the Swift runtime in itself, because no Debian has one. Only a root
/// package may say so, and this one always is.
func installed(
    _ name: String, _ dependencies: [Target.Dependency] = [], linking libraries: [String] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: strict,
        // And nobody looks up its symbols by name: exported, they would keep all code that nothing calls.
        linkerSettings: [
            .unsafeFlags(linkedForPackage + ["-Xlinker", "--no-export-dynamic"] + libraries.map { "-l" + $0 })
        ])
}

/// The same in C: Swift's driver links it, and it needs nothing of Swift's, whose libraries no machine of a user has.
func installedInC(_ name: String) -> Target {
    .executableTarget(
        name: name, dependencies: ["CLinux"],
        linkerSettings: [
            .unsafeFlags(
                linkedForPackage + (isForThreads ? [] : ["-nostartfiles"]) + ["-Xlinker", "--as-needed"])
        ])
}

/// Tests are compiled in half the time where they are not optimized, and what they test is. Those that search themselves, or
/// make pictures, say `optimized`.
func tests(_ name: String, _ dependencies: [Target.Dependency], optimized: Bool = false) -> Target {
    .testTarget(
        name: name, dependencies: dependencies,
        swiftSettings: strict + (optimized ? [] : [.unsafeFlags(["-Onone"])]))
}

/// Swift's package manager knows no libFuzzer: its flags are given by hand, and lld because gold knows none of their sections.
let fuzzer: [Target] = [
    .target(name: "CFuzzer"),
    .executableTarget(
        name: "fuzzer", dependencies: ["FuzzTargets", "CFuzzer"], swiftSettings: strict,
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]),
]

let package = Package(
    name: "camarb",
    products: [
        // What an app imports, and all of it.
        .library(name: "Camarb", targets: ["Camarb"]),
        .library(name: "Arbiter", targets: ["Arbiter"]),
    ],
    dependencies: [
        // Only camclient uses it: the daemons stay free of Foundation (architecture: "Threads").
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        // Only camplay uses it, which serves one page to one browser.
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: ([
        // The C edge: what Swift cannot import, and nothing else.
        .target(name: "CLinux"),
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(name: "CToml"),
        .target(
            name: "CLibav",
            linkerSettings: ["avformat", "avcodec", "swscale", "swresample", "avutil"].map { .linkedLibrary($0) }),
        .target(name: "CVideo4Linux", linkerSettings: [.linkedLibrary("v4lconvert")]),
        .target(name: "CTurboJPEG", linkerSettings: [.linkedLibrary("turbojpeg")]),
        .target(
            name: "CXCB", cSettings: isForFuzzing ? [.unsafeFlags(["-fsanitize=fuzzer-no-link"])] : [],
            linkerSettings: [.linkedLibrary("xcb"), .linkedLibrary("xcb-res")]),
        // What the C library has too: the one place where slates are drawn, and frame rates as fractions.
        .target(
            name: "CSlate", path: "clients/libcamarb",
            exclude: ["tests", "camarb.map", "camarb.pc.in", "slate-font.txt", "slate-font"],
            sources: ["rates.c", "slate.c"], publicHeadersPath: "."),
        // Headers alone: the library is opened at run time, where it is there.
        .target(
            name: "CPipeWire", dependencies: ["CSlate"],
            cSettings: [
                .unsafeFlags(["-isystem", "/usr/include/pipewire-0.3", "-isystem", "/usr/include/spa-0.2"])
            ]),

        // What everything else speaks of, the core included: it imports nothing.
        // An optimized build calls libm's `trunc`, and nothing else here brings libm along.
        .target(name: "Vocabulary", swiftSettings: strict, linkerSettings: [.linkedLibrary("m")]),
        // What a session may configure on a camera, and what comes of it: the one check. As pure as the core.
        library("CaptureModel", ["Vocabulary"]),
        // The decision core: no C, no clock, no I/O, and neither the wire nor the client library.
        library("Arbiter", ["CaptureModel", "Vocabulary"]),
        // The wire. It exports the vocabulary, so that all targets but the core import this one only.
        library("ArbiterProtocol", ["Vocabulary"]),
        // Why a decision fell as it did: it lives the last events again, and the core knows nothing of it.
        library("Explain", ["Arbiter", "Vocabulary"]),
        // JSON as lines of text, for the broker's traces and the tools' logs: no Foundation.
        library("JSONText", ["ArbiterProtocol"]),
        library("ReferenceArbiter", ["ArbiterProtocol"]),
        // What the core decided, in numbers: no C, no clock, no input or output.
        library("Metrics", ["Arbiter", "Vocabulary"]),

        // Policies, scenarios and exploration, all on the one core.
        // TOML that people write, read with the place of each value, so that every problem has its line and its hint.
        library("TomlFile", ["ArbiterProtocol", "CToml"]),
        library("PolicyFile", ["Arbiter", "ArbiterProtocol", "CLinux", "TomlFile"]),
        library("CameraFile", ["ArbiterProtocol", "CLinux", "TomlFile"]),
        // What each event is called, in traces, on the wire and in scenarios: described once, for all who write or read them.
        library("EventTable", ["Arbiter", "ArbiterProtocol", "JSONText", "PolicyFile", "TomlFile"]),
        library(
            "Scenario",
            [
                "Arbiter", "ArbiterProtocol", "CameraFile", "CaptureModel", "EventTable", "Explain", "PolicyFile",
                "TomlFile",
            ]),
        library(
            "Exploration",
            ["Arbiter", "ArbiterProtocol", "CaptureModel", "EventTable", "PolicyFile", "ReferenceArbiter", "Scenario"]),
        library("Trace", ["Arbiter", "ArbiterProtocol", "EventTable", "JSONText", "PolicyFile", "Scenario"]),
        // Traces of many machines as figures and as a table: their lines are read in passing, and no core is stepped.
        library(
            "TraceFigures",
            ["Arbiter", "ArbiterProtocol", "EventTable", "JSONText", "Scenario", "Timeline", "Trace"]),
        library("Timeline", ["ArbiterProtocol", "JSONText"]),
        // A policy as a page for people: its text, what scenarios reach of it, what was walked, what it leads to and why.
        library(
            "PolicyPage",
            [
                "Arbiter", "ArbiterProtocol", "EventTable", "Explain", "Exploration", "JSONText", "PolicyFile",
                "Scenario", "Timeline", "TomlFile", "Trace",
            ],
            embedding: ["Page/page.css", "Page/report.js", "Page/play.js"]),

        // The same page, answered to a browser as somebody types.
        library(
            "PlayServing",
            [
                "JSONText", "PolicyPage", "TomlFile",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ]),

        // What a user's desktop is, as facts about apps: no C, no input or output.
        library("DesktopFacts", ["ArbiterProtocol", "JSONText"]),

        // The edges: one thread's loop; D-Bus on it; the machine around it; and who an app is.
        library("Loop", ["CSystemd", "CLinux"]),
        library("Bus", ["Loop", "ArbiterProtocol", "CSystemd", "CLinux"]),
        library("Machine", ["Loop", "Bus", "ArbiterProtocol", "CSystemd", "CLinux"]),
        library("Identity", ["Loop", "Machine", "ArbiterProtocol", "CLinux"]),
        // The words of a daemon's command line.
        library("Flags"),
        library("FrameStream", ["ArbiterProtocol", "CLinux"]),
        // Which cameras the machine has, and who they are, read from /sys: nothing is opened.
        library("VideoNodes", ["Vocabulary"]),
        // How fine a camera sees: the chart that a simulated one looks at, and what a picture of it resolves. No media library.
        library("Resolution"),
        // How hard the machine is pressed, read from /proc and /sys.
        library("MachineLoad", ["Vocabulary"]),
        library(
            "RecorderCore",
            [
                "ArbiterProtocol", "CameraFile", "CaptureModel", "FrameStream", "JSONText", "Resolution", "TomlFile",
                "VideoNodes",
                "CLibav",
                "CTurboJPEG", "CVideo4Linux", "CLinux",
            ]),
        library(
            "Broker",
            [
                "Arbiter", "ArbiterProtocol", "CameraFile", "EventTable", "Explain", "JSONText", "MachineLoad",
                "Metrics",
                "PolicyFile", "Scenario", "TomlFile",
                "Trace", "Bus", "Loop", "Machine", "Identity", "Flags", "VideoNodes", "CLinux",
            ]),

        // The client library: everything that an app needs, and what it exports.
        library("Camarb", ["ArbiterProtocol", "Bus", "Loop", "FrameStream", "CLinux"]),
        library(
            "Agent",
            [
                "DesktopFacts", "ArbiterProtocol", "JSONText", "Camarb", "Bus", "Loop", "Machine", "Identity", "Flags",
                "FrameStream", "CXCB", "CPipeWire",
            ]),

        // What reads bytes that somebody else wrote, and what must hold of it.
        library(
            "FuzzTargets",
            [
                "Arbiter", "ArbiterProtocol", "CameraFile", "CaptureModel", "DesktopFacts", "FrameStream", "JSONText",
                "Loop",
                "PlayServing", "PolicyFile", "PolicyPage", "RecorderCore", "Scenario", "TomlFile", "Trace", "Bus",
                "Identity", "Broker", "CLinux", "CVideo4Linux", "CXCB",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
            ]),

        // The programs: thin, everything testable is in a library.
        // The daemon carries the Swift runtime in itself: half the memory and half the time to start
        // (performance: "process"). Only a root package may say so, and this one always is.
        .executableTarget(
            name: "camarbd", dependencies: ["Broker", "Bus", "Loop", "Machine", "Flags"], swiftSettings: strict,
            // And nobody looks up its symbols by name: exported, they would keep all code that nothing calls.
            linkerSettings: [.unsafeFlags(linkedForPackage + ["-Xlinker", "--no-export-dynamic"])]),
        // Takes and closes what clients pass to camarbd, which must not: in C, since it may be there a dozen times.
        installedInC("camkeeper"),
        // Each user runs one, all the time: small for the same reasons.
        installed("camagent", ["Agent", "Loop", "Machine", "Flags"]),
        installed(
            "camrecorder",
            ["RecorderCore", "ArbiterProtocol", "CameraFile", "Bus", "Loop", "Machine", "Flags", "CLinux"]),
        installed(
            "camclient",
            [
                "Arbiter", "ArbiterProtocol", "CameraFile", "EventTable", "PolicyFile", "Scenario", "Exploration",
                "JSONText",
                "Metrics", "PolicyPage", "Resolution", "TomlFile", "Trace", "TraceFigures",
                "Timeline", "Camarb", "Loop", "Machine", "FrameStream", "CLinux", "CPipeWire",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            // swift-argument-parser uses a few calls of FoundationEssentials, and this is what it stands on when it is linked
            // statically: nothing else names them to the linker. Never Foundation itself: ICU comes along, 40 MB.
            linking: ["FoundationEssentials", "_FoundationCollections", "_FoundationCShims", "stdc++"]),
        // Serves the page of `camclient policy play`, on the loopback: a program of its own, so that camclient has no server in it.
        installed(
            "camplay",
            [
                "ArbiterProtocol", "PlayServing", "TomlFile",
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        // Walks and simulates from the command line: planted bugs are built and run against it.
        program("explore", ["Arbiter", "ArbiterProtocol", "PolicyFile", "Scenario", "Exploration"]),
        // camarbd as a whole in simulated time.
        library("DaemonSimulation", ["ArbiterProtocol", "Broker", "Exploration", "Bus", "Loop", "Machine", "Camarb"]),
        program("simulate", ["DaemonSimulation", "Flags"]),
        // The in-process half of `make bench`.
        program("arbiter-bench", ["Arbiter", "ArbiterProtocol", "PolicyFile"]),
        // The recordings of `make bench`: what noisy footage becomes, and what a picture costs.
        program(
            "recording-bench",
            ["ArbiterProtocol", "CLinux", "CTurboJPEG", "FrameStream", "RecorderCore", "RecordingFootage"]),
        // Footage that is the same on every run, for it and for tests.
        .target(
            name: "RecordingFootage", dependencies: ["FrameStream"], path: "Tests/RecordingFootage",
            swiftSettings: strict),
        // What writes one file for a recorder core, in C: it is started for each photo.
        installedInC("camwriter"),
        // A second recorder core that speaks `.Recorder1`, for tests.
        program("tinyrecorder", ["ArbiterProtocol", "Bus", "Loop", "FrameStream", "CLinux"]),

        tests("ArbiterProtocolTests", ["ArbiterProtocol"]),
        tests(
            "ArbiterTests",
            ["Arbiter", "ArbiterProtocol", "CameraFile", "CaptureTesting", "PolicyFile", "Scenario"]),
        tests("MetricsTests", ["Metrics", "Arbiter", "Vocabulary"]),
        tests("ExplainTests", ["Explain", "Arbiter", "Vocabulary"]),
        // What docs/capture.md says of a batch, a second time: it knows nothing of the check that it is compared with.
        .target(
            name: "CaptureTesting", dependencies: ["ArbiterProtocol"], path: "Tests/CaptureTesting",
            swiftSettings: strict),
        tests("CaptureModelTests", ["CaptureModel", "CaptureTesting", "ArbiterProtocol", "CameraFile"]),
        tests("CameraFileTests", ["CameraFile", "ArbiterProtocol", "TomlFile"]),
        tests("PolicyFileTests", ["PolicyFile", "Arbiter", "TomlFile"]),
        tests("ScenarioTests", ["Scenario", "Arbiter", "ArbiterProtocol", "JSONText", "PolicyFile"]),
        tests(
            "ExplorationTests",
            ["Exploration", "Arbiter", "ArbiterProtocol", "Explain", "PolicyFile", "ReferenceArbiter", "Scenario"],
            optimized: true),
        tests(
            "TraceTests",
            [
                "Trace", "Arbiter", "ArbiterProtocol", "EventTable", "Exploration", "JSONText", "PolicyFile",
                "Scenario", "Timeline", "TraceFigures",
            ]),
        tests("TimelineTests", ["Timeline", "JSONText", "ArbiterProtocol"]),
        tests("DesktopFactsTests", ["DesktopFacts", "ArbiterProtocol", "JSONText"]),
        tests("CamarbTests", ["Camarb", "BusTesting", "ArbiterProtocol", "Bus", "FrameStream", "Loop", "CLinux"]),
        // What tests of loops and connections wait with.
        .target(
            name: "BusTesting", dependencies: ["ArbiterProtocol", "Bus", "Loop", "CLinux"], path: "Tests/BusTesting",
            swiftSettings: strict
        ),
        tests("LoopTests", ["Loop", "BusTesting", "CLinux"]),
        tests(
            "AgentTests",
            [
                "Agent", "ArbiterProtocol", "BusTesting", "Camarb", "CLinux", "CPipeWire", "DesktopFacts",
                "FrameStream", "Loop",
            ]),
        tests("BusTests", ["Bus", "Loop", "BusTesting", "ArbiterProtocol", "CLinux"]),
        tests("IdentityTests", ["Identity", "Loop", "BusTesting", "Machine", "CLinux"]),
        tests("MachineTests", ["Machine", "Bus", "Loop", "BusTesting", "ArbiterProtocol"]),
        tests("VideoNodesTests", ["VideoNodes"]),
        tests("FuzzTargetsTests", ["FuzzTargets"]),
        tests("MachineLoadTests", ["MachineLoad", "Vocabulary"]),
        tests(
            "RecorderCoreTests",
            [
                "RecorderCore", "FrameStream", "ArbiterProtocol", "CameraFile", "CaptureModel", "Resolution", "Bus",
                "Loop", "RecordingFootage", "CLibav", "CVideo4Linux",
                "CLinux",
            ],
            optimized: true),
        tests(
            "BrokerTests",
            [
                "Broker", "Arbiter", "ArbiterProtocol", "PolicyFile", "Bus", "BusTesting", "Loop", "Machine",
                "MachineLoad",
                "Camarb", "FrameStream", "CLinux",
            ]),
    ] + (isForFuzzing ? fuzzer : [])).filter { !isForThreads || !withoutThreads.contains($0.name) },
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)
