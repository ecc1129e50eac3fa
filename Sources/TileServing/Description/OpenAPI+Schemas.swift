extension OpenAPI {
  static var schemas: [String: Any] {
    [
      "Page": object(
        [
          "images": ["type": "array", "items": reference("Image")], "total": count,
          "next": ["type": "string", "description": "The cursor of the next page; absent on the last."],
        ], required: ["images", "total"]),
      "Image": image,
      "Coverage": object(
        [
          "image": text, "description": reference("Image"), "level": count,
          "levelScale": ["type": "number", "exclusiveMinimum": 0, "maximum": 1],
          "viewport": object(
            [
              "width": number, "height": number, "scale": number, "x": number, "y": number,
              "minScale": number, "maxScale": number, "rotation": number, "flip": ["type": "boolean"],
              "visible": reference("Rectangle"),
            ],
            required: [
              "width", "height", "scale", "x", "y", "minScale", "maxScale", "rotation", "flip", "visible",
            ]), "tiles": ["type": "array", "items": reference("Tile")],
        ], required: ["image", "level", "levelScale", "viewport", "tiles"]),
      "Tile": object(
        [
          "level": count, "column": count, "row": count, "url": text,
          "source": reference("Rectangle"), "target": reference("Rectangle"), "prefetch": ["type": "boolean"],
        ], required: ["level", "column", "row", "url", "source", "target", "prefetch"]),
      "Rectangle": object(
        ["x": number, "y": number, "width": number, "height": number],
        required: ["x", "y", "width", "height"]),
      "Session": object(
        [
          "writable": flag("May change what everybody sees."), "space": flag("Has a private space unlocked."),
          "spaceWritable": flag("May change that space."), "password": flag("Passwords are taken here."),
          "expires": [
            "type": "integer", "minimum": 0, "description": "Seconds, if nothing is done meanwhile.",
          ],
        ], required: ["writable", "space", "spaceWritable", "password"]),
      "Upload": uploadSchema,
      "Problem": object(
        ["type": text, "title": text, "status": count, "detail": text],
        required: ["type", "title", "status", "detail"]),
    ]
  }

  private static var image: [String: Any] {
    object(
      [
        "id": text, "title": text, "caption": text, "creator": text, "date": text, "place": text,
        "rights": text, "keywords": ["type": "array", "items": text], "width": side, "height": side,
        "tileSize": side, "overlap": count,
        "format": ["type": "string", "enum": ["jpg", "png", "webp", "avif"]],
        "levels": [
          "type": "array",
          "items": object(
            ["width": side, "height": side, "columns": side, "rows": side],
            required: ["width", "height", "columns", "rows"]),
        ], "pages": side, "page": side, "bytes": count, "generation": text,
        "micronsPerPixel": ["type": "number", "exclusiveMinimum": 0],
        "animation": object(
          ["frames": count, "type": text, "url": text], required: ["frames", "type", "url"]),
        "urls": ["type": "object", "additionalProperties": text],
      ],
      required: [
        "id", "title", "keywords", "width", "height", "tileSize", "overlap", "format", "levels", "pages",
        "generation", "urls",
      ])
  }

  private static func flag(_ description: String) -> [String: Any] {
    ["type": "boolean", "description": description]
  }

  private static var text: [String: Any] { ["type": "string"] }
  private static var number: [String: Any] { ["type": "number"] }
  private static var count: [String: Any] { ["type": "integer", "minimum": 0] }
  private static var side: [String: Any] { ["type": "integer", "minimum": 1] }

  private static func reference(_ name: String) -> [String: Any] { ["$ref": "#/components/schemas/\(name)"] }

  private static func object(_ properties: [String: Any], required: [String]) -> [String: Any] {
    ["type": "object", "properties": properties, "required": required]
  }
}
