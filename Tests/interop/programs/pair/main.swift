// usage: pair FRAMES CAMERA…          counts so many frames of each camera at once, and takes a photo with each
import Camarb
import Glibc

struct Seen: Sendable {
    var camera: String
    var frames = 0
    var size = ""
    var photo: PhotoID = 0
}

func look(_ client: CameraClient, camera: String, frames: Int) async throws -> Seen {
    try await client.withSession(camera: camera) { session in
        var seen = Seen(camera: camera)
        let events = session.events
        try await session.startRunning()
        for try await picture in session.pictures {
            seen.frames += 1
            seen.size = "\(picture.width)x\(picture.height)"
            if seen.frames == frames { break }
        }
        let file = open("\(camera).jpeg", O_RDWR | O_CREAT, 0o600)
        defer { close(file) }
        seen.photo = try await session.capturePhoto(to: file)
        for await event in events {
            if case .photoCaptured(let photo) = event, photo.photo == seen.photo { break }
        }
        return seen
    }
}

let words = Array(CommandLine.arguments.dropFirst())
let client = try CameraClient.connect()
try await client.declare(ClientDeclaration(app: "org.example.Pair"))
// Several sessions of one client, each in a task of its own.
let all = try await withThrowingTaskGroup(of: Seen.self) { group in
    for camera in words.dropFirst() {
        group.addTask { try await look(client, camera: camera, frames: Int(words[0]) ?? 10) }
    }
    var all: [Seen] = []
    for try await seen in group { all.append(seen) }
    return all
}
for seen in all.sorted(by: { $0.camera < $1.camera }) {
    print("\(seen.camera): \(seen.frames) frames of \(seen.size), and a photo")
}
// And as children of one function.
async let one = look(client, camera: words[1], frames: 3)
async let other = look(client, camera: words[2], frames: 3)
print(try await one.frames + other.frames, "more")
