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

    /// A photo is of its session's picture: where larger stills are wanted, it is that of the picture's format. Nothing is
    /// enlarged: where the camera's own photo is smaller, it is the largest part of that with the session's shape.
    private func layout(of photo: OpenGrant.PendingPhoto, _ open: OpenGrant) -> PictureLayout {
        let camera = PhotoPlan.layout(open.settings, of: open.settings.format)
        guard let picture = open.pictures[photo.session] else { return camera }
        return PhotoPlan.layout(open.settings, of: picture.format).within(camera)
    }

    /// The size of the frame that a photo is made of. A still of another size than the video's is drawn anew, so its frame may
    /// be smaller.
    func frameLayout(of photo: OpenGrant.PendingPhoto, _ open: OpenGrant) -> PictureLayout {
        PhotoPlan.isOfFrame(open.settings) ? layout(of: photo, open) : open.layout(of: photo.session)
    }

    /// Hands on every photo that waits, but of each bracket only the next: its photos are of frames that follow each other.
    func handOnPhotos(_ frame: FrameInHand, _ open: OpenGrant, _ source: any CameraSource, _ mark: BurntInMark) {
        guard !open.photos.isEmpty else { return }
        let exposure = source.exposure(open.settings)
        let whole = PhotoPlan.layout(open.settings, of: open.settings.format)
        var later: [OpenGrant.PendingPhoto] = []
        var begun: Set<SessionID> = []
        for photo in open.photos {
            if photo.shot != nil, !begun.insert(photo.session).inserted {
                later.append(photo)
                continue
            }
            guard let picture = frame.kept[frameLayout(of: photo, open)] else {
                later.append(photo)
                continue
            }
            var plan = PhotoPlan(
                open.settings, of: source.capabilities, zoom: open.zoom, exposure: exposure, shot: photo.shot)
            var drawn = source.photo(plan, zoom: open.zoom)
            let layout = layout(of: photo, open)
            if layout != whole {
                plan.show(.middle(of: whole, shapedAs: layout), of: whole)
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
