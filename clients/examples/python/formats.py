import camarb
with camarb.Client(app="org.example.Formats") as client:
    client.watch_cameras().result()
    for camera in client.cameras:
        usual = camera.default_format_index
        for number, known in enumerate(camera.formats[usual:usual + 3], usual):
            print(f"{camera.id}: {number} {known.name}, zoom up to {known.max_zoom_factor:g}")
        print(", ".join(camera.keys[:3]), "…")
