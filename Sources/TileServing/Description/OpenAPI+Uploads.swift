/// `/api/uploads`, `/api/events` and `/api/qr.svg`
extension OpenAPI {
  static var uploadPaths: [String: Any] {
    ["/api/uploads": uploads, "/api/uploads/{id}": upload, "/api/events": events, "/api/qr.svg": qrCode]
  }

  private static var uploads: [String: Any] {
    [
      "get": [
        "operationId": "listUploads", "security": credential,
        "summary":
          "What is on its way into the library, and the last 500 that ended since the server was started.",
        "responses": answers(
          [
            "200": json(["type": "object", "properties": ["uploads": ["type": "array", "items": reference]]])
          ]),
      ] as [String: Any],
      "post": [
        "operationId": "createUpload", "security": credential,
        "summary":
          "Begins an upload by tus 1.0 (https://tus.io/protocols/resumable-upload; creation, creation-with-upload).",
        "parameters": [
          header("Tus-Resumable", version), header("Upload-Length", ["type": "integer", "minimum": 1]),
          header(
            "Upload-Metadata", ["type": "string", "pattern": "^[ -~]*$"], isRequired: false,
            "Keys and base64 values: filename; folder, where in the library the picture goes, or behind ~/ where in "
              + "the private space that the session has open."),
        ],
        "responses": answers(
          ["201": ["description": "Begun; Location is the upload's address."]],
          refusals: [400, 405, 412, 413, 415, 429, 507]),
      ] as [String: Any],
    ]
  }

  private static var upload: [String: Any] {
    [
      "get": [
        "operationId": "getUpload", "security": credential,
        "summary":
          "Where an upload stands, or how it ended: `image` is the picture's id, `reason` why there is none. "
          + "Remembered for a week, unless the server is told otherwise, also when it is started anew.",
        "parameters": [id],
        "responses": answers(["200": json(reference)]),
      ] as [String: Any],
      "patch": [
        "operationId": "sendUpload", "security": credential,
        "summary":
          "Sends bytes from Upload-Offset on. They are on the disk for good before they are acknowledged.",
        "parameters": [
          id, header("Tus-Resumable", version), header("Upload-Offset", ["type": "integer", "minimum": 0]),
        ],
        "requestBody": [
          "required": true,
          "content": [
            "application/offset+octet-stream": ["schema": ["type": "string", "format": "binary"]]
          ],
        ] as [String: Any],
        "responses": answers(
          ["204": ["description": "Taken; Upload-Offset tells how far."]],
          refusals: [400, 405, 409, 410, 412, 413, 415, 507]),
      ] as [String: Any],
      "delete": [
        "operationId": "cancelUpload", "security": credential,
        "summary": "Ends an upload (tus: termination).",
        "parameters": [id, header("Tus-Resumable", version)],
        "responses": answers(["204": ["description": "Gone."]], refusals: [405, 412, 413]),
      ] as [String: Any],
    ]
  }

  private static var events: [String: Any] {
    [
      "get": [
        "operationId": "listenToUploads", "security": credential,
        "summary":
          "Every change of an upload as a server-sent event `upload` with the upload's JSON; first those that are there.",
        "responses": answers(
          [
            "200": [
              "description": "Goes on until the listener leaves.",
              "content": ["text/event-stream": ["schema": ["type": "string"]]],
            ] as [String: Any]
          ]),
      ] as [String: Any]
    ]
  }

  private static var qrCode: [String: Any] {
    [
      "get": [
        "operationId": "getQRCode", "security": credential,
        "summary":
          "The page's address for a phone in the same network, with a code that lets one phone write.",
        "responses": answers(
          [
            "200": [
              "description": "The picture.", "content": ["image/svg+xml": ["schema": ["type": "string"]]],
            ] as [String: Any],
            "204": ["description": "Nobody else reaches this server."],
          ]),
      ] as [String: Any]
    ]
  }

  /// What one upload tells of itself.
  static var uploadSchema: [String: Any] {
    let text: [String: Any] = ["type": "string"]
    let count: [String: Any] = ["type": "integer", "minimum": 0]
    return [
      "type": "object",
      "properties": [
        "id": text, "name": text,
        "folder": ["type": "string", "description": "Behind ~/ in the session's private space."],
        "length": count, "offset": count,
        "stage": ["type": "string", "enum": ["receiving", "waiting", "tiling", "done", "failed"]],
        "progress": ["type": "number", "minimum": 0, "maximum": 1, "description": "Of tiling."],
        "image": text, "duplicate": ["type": "boolean", "description": "The library had the picture."],
        "reason": text,
      ] as [String: Any],
      "required": ["id", "name", "folder", "length", "offset", "stage", "progress", "duplicate"],
    ]
  }

  private static var id: [String: Any] {
    [
      "name": "id", "in": "path", "required": true, "description": "32 hexadecimal digits.",
      "schema": ["type": "string", "pattern": "^[0-9a-f]{32}$"],
    ]
  }

  private static var version: [String: Any] { ["type": "string", "enum": ["1.0.0"]] }
  private static var reference: [String: Any] { ["$ref": "#/components/schemas/Upload"] }

  private static func json(_ schema: [String: Any]) -> [String: Any] {
    ["description": "Told.", "content": ["application/json": ["schema": schema]]]
  }

  private static func header(
    _ name: String, _ schema: [String: Any], isRequired: Bool = true, _ description: String = ""
  ) -> [String: Any] {
    ["name": name, "in": "header", "required": isRequired, "description": description, "schema": schema]
  }

  private static let words = [
    400: "A header is malformed.", 401: "This needs the token or a session.",
    403: "This session may not, or another site's page asks.",
    404: "There is no such upload, or this server takes none.", 405: "This server takes no uploads.",
    409: "The upload stands elsewhere; see Upload-Offset.", 410: "The upload has ended.",
    412: "Another version of tus.", 413: "Too large.",
    415: "Another Content-Type, or no image that is taken here.",
    429: "Too many uploads wait; see Retry-After.", 503: "Too much at once; see Retry-After.",
    507: "The disk is full; see Retry-After.",
  ]

  private static func answers(_ good: [String: Any], refusals: [Int] = []) -> [String: Any] {
    let problem: [String: Any] = ["schema": ["$ref": "#/components/schemas/Problem"]]
    return (refusals + [401, 403, 404, 503]).reduce(into: good) { all, status in
      all[String(status)] =
        [
          "description": words[status]!,
          "content": ["application/problem+json": problem, "text/plain": ["schema": ["type": "string"]]],
        ] as [String: Any]
    }
  }
}
