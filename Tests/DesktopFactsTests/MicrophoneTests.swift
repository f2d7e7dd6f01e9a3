import Agent
import Testing

@Suite("Apps that have a microphone")
struct MicrophoneTests {
    private func takers(_ captures: [CaptureStream]) -> Set<String>? {
        UserFacts(desktop: nil, captures: captures, user: 1000, names: AppNames([], FakeProcesses.usual)).microphones
    }

    @Test("Listening to what is played, or measuring a level, is no microphone in use")
    func monitors() {
        #expect(takers([CaptureStream(node: 1, process: 30, isMonitor: true)]) == [])
    }

    @Test("The socket's process is believed before the one the stream claims")
    func forged() {
        #expect(takers([CaptureStream(node: 1, process: 30, claimedProcess: 40)]) == ["browser"])
        #expect(takers([CaptureStream(node: 1, process: nil, claimedProcess: 40)]) == ["editor"])
    }

    @Test("Behind PipeWire's server for PulseAudio's clients only the claim tells whose the stream is")
    func relayed() {
        #expect(takers([CaptureStream(node: 1, process: 10, claimedProcess: 40, isRelayed: true)]) == ["editor"])
        #expect(takers([CaptureStream(node: 1, process: 10, isRelayed: true)]) == ["session"])
    }

    @Test("Another user's stream, and one of a process that is gone, are nobody's")
    func strangers() {
        #expect(takers([CaptureStream(node: 1, process: 30, user: 1001), CaptureStream(node: 2, process: 99)]) == [])
        #expect(takers([CaptureStream(node: 1, process: 30, user: 1000)]) == ["browser"])
    }
}
