import ArbiterProtocol
import CLinux
import Glibc

/// The writer thread: has photos' files written, and waits for none of them. Other threads post its methods; envelopes among
/// their arguments are the writer's to close.
final class WriterLoop {
    private let commands: Mailbox<WriterLoop>
    private let house: FileWriters
    private let photos: PhotoDesk
    private var isStopping = false

    /// - Parameter done: called for each photo that is finished.
    init(
        _ commands: Mailbox<WriterLoop>, lab: Mailbox<PhotoLab>, in house: FileWriters,
        emit: @escaping @Sendable (RecorderEvent) -> Void, done: @escaping @Sendable () -> Void
    ) {
        (self.commands, self.house) = (commands, house)
        photos = PhotoDesk(house) { captured in
            emit(.photoCaptured(captured))
            done()
            lab.post { $0.isWritten() }
        }
    }

    func run() {
        house.prepare()
        while !isStopping || !photos.isEmpty {
            photos.wait(beside: commands.descriptor)
            commands.runAll(on: self)
            photos.turn()
            // After the files that were begun: they do not wait for it.
            house.prepare()
        }
    }

    func stop() { isStopping = true }
    func write(_ photo: PhotoDesk.Order) { photos.take(photo) }
}
