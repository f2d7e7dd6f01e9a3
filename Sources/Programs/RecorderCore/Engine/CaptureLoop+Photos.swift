package import ArbiterProtocol
import FrameStream
import Glibc

extension CaptureLoop {
    /// Takes the next frames as JPEGs, one for each photo, all or none; `.photoCaptured` follows for each after an answer
    /// without error.
    /// - Parameter files: envelopes (`camarb_open_envelope`), which only the process that writes the file opens. This
    ///   function's, also when it throws.
    package func takePhotos(
        _ id: GrantID, _ session: SessionID, _ photos: [PhotoID], _ files: [Int32], _ bracket: PhotoBracket?
    ) throws(BrokerError) {
        let open: OpenGrant
        do throws(BrokerError) {
            open = try granted(id)
            if let bracket {
                let check = ConfigurationCheck(capabilities: try camera().capabilities)
                if let problem = check.problem(of: bracket, in: open.settings.wanted) {
                    throw BrokerError(.invalidValue, problem)
                }
            }
            let own = open.photos.count { $0.session == session }
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
            open.photos.append(
                OpenGrant.PendingPhoto(id: photo, session: session, file: file, shot: bracket?.shots[place]))
        }
        source?.photoIsNext()
    }

    /// The size of the frame that a photo is made of: its session's picture, but for stills of another size than the video's,
    /// which are the camera's own.
    func layout(of photo: OpenGrant.PendingPhoto, _ open: OpenGrant) -> PictureLayout {
        PhotoPlan.isOfFrame(open.settings) ? open.layout(of: photo.session) : open.layout
    }

    /// Hands on every photo that waits, but of each bracket only the next: its photos are of frames that follow each other.
    func handOnPhotos(_ frame: FrameInHand, _ open: OpenGrant, _ source: any CameraSource, _ mark: BurntInMark) {
        guard !open.photos.isEmpty else { return }
        let exposure = source.exposure(open.settings)
        var later: [OpenGrant.PendingPhoto] = []
        var begun: Set<SessionID> = []
        for photo in open.photos {
            if photo.shot != nil, !begun.insert(photo.session).inserted {
                later.append(photo)
                continue
            }
            let layout = layout(of: photo, open)
            guard let picture = frame.kept[layout] else {
                later.append(photo)
                continue
            }
            var plan = PhotoPlan(
                open.settings, of: source.capabilities, zoom: open.zoom, exposure: exposure, shot: photo.shot)
            var drawn = source.photo(plan, zoom: open.zoom)
            if layout != open.layout {
                plan.show(.middle(of: open.layout, shapedAs: layout), of: open.layout)
                drawn = drawn?.scaled(to: layout)
            }
            let order = PhotoOrder(
                id: photo.id, envelope: photo.file,
                picture: drawn.map { .drawn(Self.marked($0, mark, source)) } ?? .frame(picture), plan: plan,
                cameraName: source.capabilities.name, seconds: Int(time(nil)))
            lab.post { $0.take(order) }
        }
        open.photos = later
    }

    private static func marked(_ photo: DrawnPhoto, _ mark: BurntInMark, _ source: any CameraSource) -> DrawnPhoto {
        guard source.isMarked else { return photo }
        let text = source.showsText
        return DrawnPhoto(photo.layout) { (memory) throws(MediaFault) in
            try photo.draw(memory)
            mark.burnIn(memory, photo.layout, text: text)
        }
    }

    func giveUp(_ photos: [OpenGrant.PendingPhoto], _ sentence: String) {
        for photo in photos {
            close(photo.file)
            writing -= 1
            emit(.photoCaptured(PhotoCaptured(photo: photo.id, width: 0, height: 0, bytes: 0, error: sentence)))
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
        let words = "#\(frameNumber) \(captureTime / 1_000_000_000).\(fraction) s"
        BitmapText.draw(words, into: memory, layout: layout)
    }
}
