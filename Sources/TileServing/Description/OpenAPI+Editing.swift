extension OpenAPI {
  /// What a writable server obeys beside reading: each path's methods.
  static var editing: [String: [String: Any]] {
    let id: [String: Any] = [
      "name": "id", "in": "path", "required": true, "schema": ["type": "string", "minLength": 1],
    ]
    // Without what XML 1.0 cannot hold (section 2.2); a title and a keyword are one line.
    let line = #"^[^\u0000-\u001f\u007f-\u009f\ufffe\uffff]*$"#
    let lines = #"^([^\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]|\r\n)*$"#
    func text(_ longest: Int, _ pattern: String) -> [String: Any] {
      ["type": ["string", "null"], "maxLength": longest, "pattern": pattern]
    }
    func body(_ properties: [String: Any], _ required: [String]) -> [String: Any] {
      [
        "required": true,
        "content": [
          "application/json": [
            "schema": [
              "type": "object", "properties": properties, "required": required,
              "additionalProperties": false, "minProperties": 1,
            ] as [String: Any]
          ]
        ],
      ]
    }
    func answers(_ schema: [String: Any], _ more: [String: String]) -> [String: Any] {
      var result: [String: Any] = [
        "200": ["description": "Done.", "content": ["application/json": ["schema": schema]]] as [String: Any]
      ]
      let always = [
        "400": "The request cannot be used, which the problem names.",
        "401": "This needs the token or a session.",
        "403": "The session may not, or another site's page asks.",
        "404": "There is no such image or deletion.",
        "405": "The server is not writable.", "409": "The image cannot be changed, which the problem says.",
        "413": "The body is too long.", "414": "The URL is too long.",
        "500": "The change could not be written.",
        "503": "Too many changes at once, or the sidecar cannot be read now; see Retry-After.",
        "507": "The disk is full; see Retry-After.",
      ]
      for (status, words) in always.merging(more, uniquingKeysWith: { a, _ in a }) {
        result[status] = problem(words)
      }
      return result
    }
    let image: [String: Any] = ["$ref": "#/components/schemas/Image"]
    let object: [String: Any] = ["type": "object"]
    let deletion: [String: Any] = [
      "name": "deletion", "in": "path", "required": true, "schema": ["type": "string", "minLength": 1],
    ]
    return [
      "/api/images/{id}": [
        "patch": [
          "operationId": "editImage", "security": credential,
          "summary": "Changes title, caption, keywords, in the XMP sidecar beside the archive; null empties.",
          "parameters": [
            id, ["name": "If-Match", "in": "header", "schema": ["type": "string"]] as [String: Any],
          ],
          "requestBody": body(
            [
              "title": text(1000, line), "caption": text(20_000, lines),
              "keywords": [
                "type": ["array", "null"], "maxItems": 500,
                "items": ["type": "string", "maxLength": 200, "pattern": line] as [String: Any],
              ],
            ], []),
          "responses": answers(image, ["412": "Somebody else has changed the image since the ETag."]),
        ] as [String: Any],
        "delete": [
          "operationId": "deleteImage", "security": credential,
          "summary": "Deletes an image, which can be restored for some time.",
          "parameters": [id], "responses": answers(object, [:]),
        ] as [String: Any],
      ],
      "/api/images/{id}/move": [
        "post": [
          "operationId": "moveImage", "security": credential,
          "summary":
            "Moves an image, and what was written about it, between the library and the private space that the "
            + "session has open (which takes the token too), or from there into the space of another password.",
          "parameters": [id],
          "requestBody": body(
            [
              "to": ["type": "string", "enum": ["space", "library", "other-space"]],
              "password": [
                "type": "string", "minLength": 1, "maxLength": 1024, "description": "With other-space alone.",
              ],
            ], ["to"]),
          "responses": answers(object, ["429": "Too many guesses; see Retry-After."]),
        ] as [String: Any]
      ],
      "/api/deleted": [
        "post": [
          "operationId": "deleteImages", "security": credential,
          "summary": "Deletes several; one restore brings them all back.",
          "requestBody": body(
            ["ids": ["type": "array", "items": ["type": "string"], "minItems": 1, "maxItems": 1000]], ["ids"]),
          "responses": answers(object, [:]),
        ] as [String: Any],
        "get": [
          "operationId": "listDeleted", "security": credential,
          "summary": "What can be restored, the last deleted first.",
          "responses": answers(object, [:]),
        ] as [String: Any],
      ],
      "/api/deleted/{deletion}/restore": [
        "post": [
          "operationId": "restoreDeleted", "security": credential,
          "summary": "Brings back what one request deleted.",
          "parameters": [deletion], "responses": answers(object, [:]),
        ] as [String: Any]
      ],
    ]
  }
}
