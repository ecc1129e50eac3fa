import TileProtocols

/// The description of `/api` for programs, OpenAPI 3.1.
enum OpenAPI {
  /// - Parameters:
  ///   - base: of every path; root-relative where it is empty.
  ///   - viewportSide: CSS pixels along a side of a viewport query's window, at most.
  static func document(version: String, base: String, viewportSide: Int) -> [String: Any] {
    let id = parameter(
      "id", "The image's id, percent-encoded as one segment.", ["type": "string", "minLength": 1],
      place: "path")
    let image = answers(["application/json": ref("Image")])
    let viewport = viewportParameters(viewportSide)
    let busy = ["503": ["description": "Too many pictures are being rendered; see Retry-After."]]
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "Ziggurat", "version": version,
        "description": "Images as deep-zoom tiles: the library, and which tiles a viewport shows.",
      ],
      "servers": [["url": base.isEmpty ? "/" : base]],
      "paths":
        ([
          "/api/images": get(
            "listImages", "The library, by id.",
            [
              parameter(
                "limit", "Images of one page.",
                ["type": "integer", "minimum": 1, "maximum": 1000, "default": 100]),
              parameter("cursor", "`next` of the page before.", ["type": "string"]),
              parameter(
                "q", "Words that title, caption, creator, date, place, keywords or id hold, in any case.",
                ["type": "string"]),
            ], answers(["application/json": ref("Page")], also: [400])),
          "/api/images/{id}": get(
            "getImage", "One image.", [id], image.merging(problems([404])) { a, _ in a }),
          "/api/images/{id}/animation": get(
            "getAnimation", "The moving picture whose first frame the tiles show, as it came.", [id],
            answers(["image/gif": binary, "image/webp": binary], also: [404])),
          "/api/images/{id}/viewport": get(
            "getViewport", "The tiles that cover a viewport, nearest its centre first.", [id] + viewport,
            answers(["application/json": ref("Coverage")], also: [400, 404])),
          "/api/images/{id}/viewport.tiles": get(
            "getViewportTiles",
            "The same, followed by the tiles' bytes. Every part stands behind its length, 4 bytes, big-endian: "
              + "first the JSON of the viewport, then each of its tiles.",
            [id] + viewport, answers([Router.framed: binary], also: [400, 404]).merging(busy) { a, _ in a }),
          "/api/images/{id}/viewport.{format}": get(
            "getViewportPicture", "The viewport as a picture.",
            [
              id,
              parameter(
                "format", "Of the picture.", ["type": "string", "enum": ["jpg", "png", "webp"]], place: "path"
              ),
            ] + viewport,
            answers(
              ["image/jpeg": binary, "image/png": binary, "image/webp": binary], also: [400, 404]
            )
            .merging(busy) { a, _ in a }),
          "/api/session": session,
          "/healthz": get(
            "getHealth", "Liveness.", [], answers(["text/plain": ["schema": ["type": "string"]]])),
        ] as [String: Any]).merging(uploadPaths) { a, _ in a },
      "components": ["schemas": schemas, "securitySchemes": credentials(base)],
    ]
  }

  /// What a writer shows: either.
  static var credential: [[String: Any]] { [["token": [String]()], ["session": [String]()]] }

  private static func credentials(_ base: String) -> [String: Any] {
    [
      "token": ["type": "http", "scheme": "bearer"],
      "session": [
        "type": "apiKey", "in": "cookie", "name": SessionCookie(isSecure: base.hasPrefix("https:")).name,
        "description": "Begun by POST /api/session; obeyed from the server's own pages alone.",
      ],
    ]
  }

  // MARK: Parts

  private static var binary: [String: Any] { ["schema": ["type": "string", "format": "binary"]] }

  private static func ref(_ name: String) -> [String: Any] {
    ["schema": ["$ref": "#/components/schemas/\(name)"]]
  }

  private static func get(
    _ id: String, _ summary: String, _ parameters: [[String: Any]], _ responses: [String: Any]
  ) -> [String: Any] {
    ["get": ["operationId": id, "summary": summary, "parameters": parameters, "responses": responses]]
  }

  private static func parameter(
    _ name: String, _ description: String, _ schema: [String: Any], place: String = "query",
    isRequired: Bool = false
  ) -> [String: Any] {
    [
      "name": name, "in": place, "required": place == "path" || isRequired, "description": description,
      "schema": schema,
    ]
  }

  private static func answers(_ content: [String: Any], also failures: [Int] = []) -> [String: Any] {
    ["200": ["description": "Found.", "content": content] as [String: Any]]
      .merging(problems(failures)) { a, _ in a }
  }

  private static func problems(_ statuses: [Int]) -> [String: Any] {
    let words = [
      400: "A parameter cannot be used, which the problem names.", 404: "There is no such image.",
      414: "The URL is too long.",
    ]
    // What any request may meet, besides: escapes that are none, archives that cannot be read.
    return Dictionary(
      Set(statuses + [400, 414, 500]).map { status in
        (
          "\(status)",
          [
            "description": words[status] ?? "The image or the catalog cannot be read.",
            "content": [
              "application/problem+json": ref("Problem"), "text/plain": ["schema": ["type": "string"]],
            ],
          ] as [String: Any]
        )
      }
    ) { a, _ in a }
  }

  private static func viewportParameters(_ side: Int) -> [[String: Any]] {
    func number(_ low: Double, _ high: Double) -> [String: Any] {
      ["type": "number", "minimum": low, "maximum": high]
    }
    let flag: [String: Any] = ["type": "string", "enum": ["true", "false", "1", "0"]]
    // Written as `x,y`.
    let point: [String: Any] = [
      "type": "string", "pattern": "^-?[0-9]{1,9}(\\.[0-9]{1,6})?,-?[0-9]{1,9}(\\.[0-9]{1,6})?$",
    ]
    return [
      parameter("width", "CSS pixels.", number(1, Double(side)), isRequired: true),
      parameter("height", "CSS pixels.", number(1, Double(side)), isRequired: true),
      parameter("scale", "CSS pixels per image pixel.", number(1e-12, 1e6)),
      parameter("x", "Offset in content space.", number(-1e15, 1e15)),
      parameter("y", "Offset in content space.", number(-1e15, 1e15)),
      parameter(
        "fit", "Sets the scale and centres.",
        ["type": "string", "enum": ["contain", "cover", "width", "none"]]),
      parameter("center", "`x,y` in image space, instead of x and y.", point),
      parameter("anchor", "`x,y` in viewport space, which stays under zoom.", point),
      parameter("zoom", "A factor about the anchor.", number(1e-9, 1e9)),
      parameter("minScale", "At most maxScale.", number(1e-12, 1e6)),
      parameter("maxScale", "At least minScale.", number(1e-12, 1e6)),
      parameter("clamp", "Leaves no gap, and centres what is smaller.", flag),
      parameter("rotation", "Degrees clockwise.", number(-1e6, 1e6)),
      parameter("flip", "Mirrored left to right, before it is turned.", flag),
      parameter("dpr", "Device pixels per CSS pixel.", number(0.1, 8)),
      parameter(
        "margin", "Rings of tiles beyond the edge.", ["type": "integer", "minimum": 0, "maximum": 64]),
      parameter("fallback", "Also the coarser tiles that cover the same area.", flag),
      parameter("overview", "Also the tile that shows the whole image.", flag),
      parameter("describe", "Also what `/api/images/{id}` answers.", flag),
      parameter(
        "scheme", "How the tiles' URLs are written.",
        ["type": "string", "enum": TileScheme.allCases.map(\.rawValue)]),
    ]
  }
}
