// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "mirror",
    dependencies: [.package(url: "https://git.example.org/camarb", from: "0.1.0")],
    targets: ["mirror", "touch"].map {
        .executableTarget(name: $0, dependencies: [.product(name: "Camarb", package: "camarb")])
    }
)
