/// The common version of all programs, libcamarb, and the modules for Python and GStreamer.
public enum Release {
    /// The file `VERSION` has the same number for everything that is not Swift; `Tests/interop/packaging.py` compares
    /// them.
    public static let version = "0.1.0"
}
