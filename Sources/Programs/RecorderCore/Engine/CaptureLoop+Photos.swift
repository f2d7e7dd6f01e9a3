import ArbiterProtocol
import FrameStream
import Glibc

/// Photos: ordered, and taken of the frames that are captured.
extension CaptureLoop {
    /// - Parameters:
    ///   - files: this function's, also when it throws.
    ///   - bracket: with a shot for each photo.
    func takePhotos(
        _ id: GrantID, _ session: SessionID, _ photos: [PhotoID], _ files: [Int32], _ bracket: PhotoBracket? = nil
    ) throws(BrokerError) {
        do throws(BrokerError) {
            if let bracket {
                let check = ConfigurationCheck(capabilities: try camera().capabilities)
                if let problem = check.problem(of: bracket, in: try granted(id).settings.wanted) {
                    throw BrokerError(.invalidValue, problem)
                }
            }
            let own = try granted(id).photos.count { $0.session == session }
            guard own + photos.count <= Self.photosMax else {
                throw BrokerError(
                    .limitExceeded,
                    "\(own) photos of the session wait already, of \(Self.photosMax) that may; wait for one.")
            }
        } catch {
            for file in files { close(file) }
            throw error
        }
        writing += photos.count
        for (place, (photo, file)) in zip(photos, files).enumerated() {
            let shot = bracket?.shots[place]
            grant?.photos.append(OpenGrant.PendingPhoto(id: photo, session: session, file: file, shot: shot))
        }
        source?.photoIsNext()
    }

    /// Hands on every photo that waits, but of each bracket only the next: its photos are of frames that follow each other.
    func takePhotos(_ picture: KeptPicture, _ open: inout OpenGrant, _ source: any CameraSource, _ mark: BurntInMark) {
        guard !open.photos.isEmpty else { return }
        let exposure = source.exposure(open.settings)
        var later: [OpenGrant.PendingPhoto] = []
        var begun: Set<SessionID> = []
        for photo in open.photos {
            if photo.shot != nil, !begun.insert(photo.session).inserted {
                later.append(photo)
                continue
            }
            let plan = PhotoPlan(
                open.settings, of: source.capabilities, zoom: open.zoom, exposure: exposure, shot: photo.shot)
            let drawn = source.photo(plan, zoom: open.zoom).map { Self.marked($0, mark, source) }
            lab.post(
                .take(
                    PhotoOrder(
                        id: photo.id, envelope: photo.file, picture: drawn.map { .drawn($0) } ?? .frame(picture),
                        plan: plan, cameraName: source.capabilities.name, seconds: Int(time(nil)))))
        }
        open.photos = later
    }

    /// With the mark that the frame has.
    private static func marked(_ photo: DrawnPhoto, _ mark: BurntInMark, _ source: any CameraSource) -> DrawnPhoto {
        guard source.isMarked else { return photo }
        let text = source.showsText
        return DrawnPhoto(photo.layout) { (memory) throws(MediaFault) in
            try photo.draw(memory)
            mark.burnIn(memory, photo.layout, text: text)
        }
    }
}

extension BurntInMark {
    /// - Parameter text: number and time are also written out, for people.
    func burnIn(_ memory: UnsafeMutableRawBufferPointer, _ layout: PictureLayout, text: Bool) {
        draw(into: memory, layout: layout)
        guard text else { return }
        let nanoseconds = String(captureTime % 1_000_000_000)
        let fraction = String(repeating: "0", count: 9 - nanoseconds.utf8.count) + nanoseconds
        let dot = BitmapText.dot(width: layout.width)
        BitmapText.draw(
            "#\(frameNumber) \(captureTime / 1_000_000_000).\(fraction) s", into: memory, layout: layout,
            x: 4 * dot, y: 4 * dot)
    }
}
