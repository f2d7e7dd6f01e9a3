/// What a camera has found in the frame that was taken last: a face, a code, or the chart's marker.
package struct DetectedObject: Hashable, Sendable {
    /// As AVFoundation names kinds of metadata objects; `marker` is ours.
    package var type: String
    /// The same for as long as it is the same thing.
    package var id: Int
    /// Left, top, width and height in 0...1 of the picture, from its upper left corner.
    package var box: Box

    package struct Box: Hashable, Sendable {
        package var x: Double
        package var y: Double
        package var width: Double
        package var height: Double

        package init(x: Double, y: Double, width: Double, height: Double) {
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }
    }

    package init(type: String, id: Int, box: Box) {
        self.type = type
        self.id = id
        self.box = box
    }
}
