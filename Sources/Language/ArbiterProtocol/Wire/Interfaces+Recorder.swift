extension Interface {
    /// Between broker (the caller) and recorder core, on a private connection. `grant` orders everything: a call for
    /// another grant than the open one is refused with `org.camarb.Error.StaleGrant`.
    package static let recorder = Interface(
        name: InterfaceName.recorder, summary: "A recorder core: one process, one camera.",
        methods: """
            Serve(camera s) → process h
              Tells a recorder core that was started without a camera which one it serves; the first call then, and
              called once. Gives a pidfd of its own process, so that one that hangs can be killed.
            Describe() → capabilities a{sv}
              What the camera can do (“What a recorder core says of its camera”).
            Open(grant t, configuration a{sv}) → inForce a{sv}
              Starts the camera for a grant, with fresh buffers; answers when the first frame is there.
            Configure(grant t, batch a{sv}) → inForce a{sv}
              Applies a batch as a whole or refuses it as a whole.
            OpenStream(grant t, session t) → stream h
              One more preview stream of the grant: the client's end of a SOCK_SEQPACKET pair.
            CloseStreams(grant t, session t)
              Closes a session's preview streams, blanks their buffers, and gives up its photos that wait for a frame,
              while the camera goes on. Answers when that is so; a recording ends by its own call.
            CapturePhoto(grant t, session t, photo t, file h, options a{sv})
              Takes the next frame as a JPEG into the file of an envelope; `PhotoCaptured` follows.
            CapturePhotoBracket(grant t, session t, photos at, files ah, options a{sv})
              Takes the next frames as JPEGs, one for each photo and with its exposure, into the files of as many
              envelopes; `PhotoCaptured` follows for each.
            StartRecording(grant t, recording t, file h, options a{sv})
              Records the picture of the session named by `ActFor` from the next frame on, into the file of an
              envelope, with the sound of that session's microphone where it is attached. One of a session at a time.
            StopRecording(recording t, why s, reason a{sv})
              Finishes the file; `RecordingFinished` follows. Unknown recordings are ignored: it may just have ended.
              `reason` has `cause` s and `interrupter` s where the session's client may know them, for the file.
            PauseRecording(recording t)
              The frame after the answer is not in the file, nor any other until `ResumeRecording`. Ignored as above.
            ResumeRecording(recording t)
              The file goes on with the next frame, right behind its last one. Ignored as above.
            AppendMetadata(recording t, kind s, time x, items as)
              As the session's. Refused for an undeclared kind, items of another form, and a time that cannot be.
            AttachMicrophone(grant t, microphone h, options a{sv})
              The microphone of the session named by `ActFor`: a SOCK_SEQPACKET socket in an envelope. It takes the place of
              another one, which is closed; it is closed with the grant.
            DetachMicrophone(grant t)
              Closes the grant's microphone; nothing where there is none. A recording goes on without its sound.
            SetSlate(grant t, session t, slate b)
              Whether a session's preview is black, with frames marked `slate` that are counted on, instead of the
              picture. Until the grant ends.
            ActFor(grant t, session t)
              Whose the recording or the microphone of the next `StartRecording` or `AttachMicrophone` is. Without it
              they are the holder's, and a recording is of the camera's picture.
            SetPicture(grant t, session t, picture a{sv})
              The picture that a session gets from now on, as `activeFormat` and `frameRate`: streams, photos and
              recordings are scaled to that format and thinned out to that rate. A recording that runs follows the rate,
              and keeps the size that it began with. Empty: the camera's own. Until the grant ends.
            Complete(recording t, file h) → frames t, duration x, bytes t, lastCapture x
              Completes a recording whose recorder core was lost, in the envelope that it had: says what is in the whole
              file (`lastCapture`: when its last frame was captured, 0: not known). Nothing waits for it. A file that
              cannot be read, or is not a recording of the recorder core's own kind, is left as it is and refused.
            Keep(grant t, process h, listener h)
              The open grant may outlive the broker, for 3 s: until another one connects to `listener`, a listening
              AF_UNIX stream socket, as the broker's user or root, or the client ends (`process` is its pidfd).
            Survey() → process h, grant t, recordings at
              Another broker's first call: gives a pidfd of the recorder core's process, the grant that is kept (0:
              none), and its recordings that run or whose end is told next. Until `Resume` nothing is begun for the
              grant.
            Resume(grant t, sessionBefore t, session t) → inForce a{sv}
              The kept grant goes on, for a session of another number, which keeps its picture. Streams of any other
              session are closed, their buffers blanked, their recordings finished (`interrupted`), and photos that wait
              are given up.
            Cut(grant t, why s, reason a{sv}) → lastCapture x
              Ends a grant: streams closed, buffers blanked, no later frame is captured for it. Answers when that is so,
              with the capture time of its last frame (0: none); recordings are finished after the answer, with a reason
              as of `StopRecording`.
            PassOn(grant t, why s, reason a{sv}) → lastCapture x
              As `Cut`, where another session has won the camera: `Open` for the next grant follows the answer. The
              device may go on until then, for 0.25 s at most, its frames for nobody; the next grant begins with the
              first frame captured after everything is set for it. Where that takes a stop (another format or frame
              rate, buffers that were lent to a client), it stops as at `Cut`.
            Beat()
              Asked every half second while a grant streams. What captures answers it between two frames, not what reads
              the socket: a recorder core that does not answer for 2 s is killed. One that answers `UnknownMethod` is
              not asked again.
            WatchNode(queue h)
              Makes the kernel report in an inotify queue of the broker's when the camera's node is opened and closed:
              the broker itself may not read the node. Refused where the camera has no node.
            Look() → openIn s
              Looks whether a program outside the broker has the device, and sends `DeviceChanged` before it answers
              with the program that has the node open, as far as that can be seen ("": it cannot). During a grant the
              device is left alone.
            """,
        signals: Signal.list(
            """
            RecordingFinished(recording t, why s, frames t, duration x, bytes t, lastCapture x, framesLeftOut t)
              A file is whole. As the session's, which may know the cause.
            PhotoCaptured(photo t, width u, height u, bytes t, error s, metadata a{sv})
              A JPEG is whole, or `error` says why not; `metadata` as in the session's.
            RampFinished(grant t, videoZoomFactor d)
              A ramp arrived.
            CameraStateChanged(grant t, state a{sv})
              What the camera says of itself and is not as it was told last: `adjustingFocus`, `adjustingExposure`,
              `adjustingWhiteBalance`, `lensPosition`, `exposureDuration`, `iso`, `pipelineRebuilds`, and a mode that
              ended by itself with what it is now. At most 10 times a second; what comes sooner waits, and the newest
              counts.
            DeviceChanged(state s, message s)
              `ok`, `disconnected`, `error`, `held-outside`, `privacy-on`, `privacy-off`.
            RuntimeError(code s, message s, recording t, session t)
              Something failed; capture goes on. `recording` or `session` says whose trouble it is; where both are 0, it
              is the holder's. An earlier recorder core has neither.
            Starting()
              The device of the grant is being started again, or set in a way that may take as long: the next answer to
              `Beat` may take 15 s.
            Leaving()
              There is nothing to do: its process ends, and another is started when there is.
            """))
}
