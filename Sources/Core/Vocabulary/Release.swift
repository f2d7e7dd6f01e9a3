/// What is released together: all programs, libcamarb, and the modules for Python and GStreamer have one version.
public enum Release {
    /// As in the file `VERSION`, from which everything that is not Swift has it; `Tests/interop/packaging.py` holds this to it.
    public static let version = "0.1.0"
}
