extension OpenAPI {
  /// `/api/session`
  static var session: [String: Any] {
    let state: [String: Any] = ["application/json": ["schema": ["$ref": "#/components/schemas/Session"]]]
    let credential: [String: Any] = ["type": "string", "minLength": 1, "maxLength": 1024]
    return [
      "get": [
        "operationId": "getSession", "summary": "What this visitor may do.",
        "responses": ["200": ["description": "Told.", "content": state] as [String: Any]],
      ] as [String: Any],
      "post": [
        "operationId": "beginSession",
        "summary":
          "Unlocks the private space that a password opens, or gives a browser the token's rights, for "
          + "the session whose cookie is in the answer.",
        "requestBody": [
          "required": true,
          "content": [
            "application/json": [
              "schema": [
                "oneOf": ["password", "token"].map { name in
                  [
                    "type": "object", "properties": [name: credential], "required": [name],
                    "additionalProperties": false,
                  ] as [String: Any]
                }
              ]
            ]
          ],
        ] as [String: Any],
        "responses": [
          "200": ["description": "Let in.", "content": state] as [String: Any],
          "400": problem("The body is neither a password nor a token."),
          "401": problem("Nothing opens with it."),
          "403": problem("Another site's page asks, or no passwords are taken here."),
          "413": problem("The body is too long."), "415": problem("The body is not called JSON."),
          "429": problem("Too many guesses; see Retry-After."),
          "500": problem("The private spaces cannot be read."),
          "503": problem("Too many passwords are being tried; see Retry-After."),
        ],
      ] as [String: Any],
      "delete": [
        "operationId": "endSession", "summary": "Logs out; the space is locked with its last session.",
        "responses": [
          "204": ["description": "Done, or there was no session."],
          "403": problem("Another site's page asks."),
        ],
      ] as [String: Any],
    ]
  }

  static func problem(_ description: String) -> [String: Any] {
    let content: [String: Any] = ["schema": ["$ref": "#/components/schemas/Problem"]]
    return [
      "description": description,
      "content": ["application/problem+json": content, "text/plain": ["schema": ["type": "string"]]],
    ]
  }
}
