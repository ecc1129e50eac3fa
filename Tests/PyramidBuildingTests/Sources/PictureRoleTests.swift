import Testing

@testable import PyramidBuilding

/// Names and descriptions as scanners and Bio-Formats write them, and such as only sound alike.
@Suite struct PictureRoleTests {
  @Test(arguments: [
    ("label", PictureRole.label), ("LABEL", .label), ("Label Image", .label), ("label image 2", .label),
    ("slide.svs [label]", .label), ("S21-0815.svs [macro]", .macro), ("Slide label", .label),
    ("MacroImage", .macro),
    ("macro_image", .macro), ("Overview", .overview), ("Barcode image", .barcode),
    ("image of the label", .label),
    ("Thumbnail", .thumbnail), ("label 387x463", .label),
  ])
  func `names of roles are recognized`(name: String, role: PictureRole) {
    #expect(PictureRole(named: name) == role)
  }

  @Test(arguments: [
    "labelled cells", "Label of a beer bottle, 1890", "macrophages", "Macro photograph of a bee",
    "Overview of the harbour",
    "slide.svs [0]", "Label-free SRS", "unlabeled", "", "DAPI", "barcoded beads",
  ])
  func `other names have no role`(name: String) {
    #expect(PictureRole(named: name) == nil)
  }

  @Test func `beside other pictures, one whole word is enough`() {
    #expect(PictureRole(mentionedIn: "S21-0815 Roe label") == .label)
    #expect(PictureRole(mentionedIn: "Roe, macro of it all") == .macro)
    for name in ["labelled cells", "label-free imaging", "macrophages of a mouse", "an unlabelled one"] {
      #expect(PictureRole(mentionedIn: name) == nil)
    }
  }

  @Test(arguments: [
    ("barcode: 123", PictureRole.barcode), ("label: S21-0815", .label), ("Patient label", .label),
    ("label (cropped)", .label), ("Smith, John - label", .label), ("{\"Label\": true}", .label),
    ("Barcode=S21-1", .barcode), ("Etikett", .label), ("Slide label area", .label),
  ])
  func `a short description of a small picture beside a large one has a role`(text: String, role: PictureRole)
  {
    #expect(PictureRole(mentionedInDescription: text) == role)
    let long = text + "\n" + String(repeating: "and more ", count: 20)
    #expect(PictureRole(mentionedInDescription: long) == nil)
  }

  @Test(arguments: ["labels", "label-free SRS", "DAPI", "10x|Barcode = 12", "unlabelled", ""])
  func `other short descriptions have no role`(text: String) {
    #expect(PictureRole(mentionedInDescription: text) == nil)
  }

  @Test(arguments: [
    ("Aperio Image Library v11.2.1\r\nlabel 387x463", PictureRole.label),
    ("Aperio Image Library v12\nmacro 1280x431|AppMag = 20", .macro),
    ("Macro -offset=(0,0)-pixelsize=(1,1)", .macro),
    ("<?xml version=\"1.0\" encoding=\"utf-16\"?><D><ImageType>Label</ImageType></D>", .label),
    ("<D><ImageType>Overview</ImageType></D>", .overview),
    ("<D><ImageType>ReducedResolution</ImageType></D>", .reduced),
    ("<image ImageType=\"Macro\"/>", .macro), ("Image type: label", .label),
    ("{\"type\": \"barcode\"}", .barcode),
    ("Vendor X\nType = Macro image", .macro), ("Label_Image", .label),
    ("ImageType: ORIGINAL\\PRIMARY\\LABEL\\NONE", .label),
    ("<a><ImageType foo=\"1\">Label</ImageType></a>", .label),
    ("<a><ImageType >\n Label\n</ImageType></a>", .label),
    ("<ImageType><![CDATA[Label]]></ImageType>", .label),
    ("<Image Type=\"Label\"/>", .label), ("<image name='label' id=\"1\"/>", .label),
    ("<x><Type>Label</Type></x>", .label),
    ("<q:root xmlns:q=\"a\"><q:ImageType>Macro</q:ImageType></q:root>", .macro),
    ("{\"image\": \"label\"}", .label), ("{\"associated\": \"label\"}", .label), ("content=label", .label),
    ("image: label", .label), ("associatedImage: label", .label), ("type: [label]", .label),
    (String(repeating: "a line\n", count: 20_000) + "label 387x463", .label),
    // As tifffile writes JSON, on one line and on several.
    ("{\"shape\": [2, 2, 3], \"ImageType\": [\"ORIGINAL\", \"PRIMARY\", \"LABEL\", \"NONE\"]}", .label),
    (
      "{\n  \"ImageType\": [\n    \"ORIGINAL\",\n    \"PRIMARY\",\n    \"LABEL\",\n    \"NONE\"\n  ]\n}",
      .label
    ),
    ("Model: X\nImageType: ['ORIGINAL', 'PRIMARY', 'OVERVIEW', 'NONE']\nWidth: 7", .overview),
    ("Vendor: X\nImageType:\n  - ORIGINAL\n  - LABEL\nWidth: 7", .label),
    ("{\"00080008\": {\"vr\": \"CS\", \"Value\": [\"ORIGINAL\", \"PRIMARY\", \"LABEL\"]}}", .label),
    ("(0008, 0008) Image Type                          CS: ['ORIGINAL', 'PRIMARY', 'LABEL', 'NONE']", .label),
    ("(0008,0008) CS [ORIGINAL\\PRIMARY\\LABEL\\NONE]  # 36, 4 ImageType", .label),
    ("{\"image\": {\"flavor\": \"LABEL\"}}", .label), ("{\"image_type\": \"\\u004cabel\"}", .label),
    ("[{\"name\": \"ImageType\", \"value\": \"Label\"}]", .label),
    ("[{\"value\": \"Label\", \"name\": \"image type\"}]", .label),
    ("Vendor: X\nImage Flavor: LABEL", .label), ("image:\n  type: label\n  patient: Doe", .label),
    ("ACME v1|Vendor = ACME Works|ImageType = label|Patient = Doe", .label),
    ("vendor\tACME\nimage_type\tlabel\nfoo\tbar", .label), ("ImageType -> Label", .label),
    ("Vendor=ACME ImageType=Label Width=200", .label), ("IMAGE TYPE   Label", .label),
    ("ＩｍａｇｅＴｙｐｅ：ＬＡＢＥＬ", .label), ("ImageType: Étiquette", .label), ("ImageType: Labels", .label),
    ("ImageType: label (cropped) of S21", .label),
    ("\u{feff}<?xml version=\"1.0\"?><D><ImageType>Label</ImageType></D>", .label),
    ("<D><ImageType>&#76;abel</ImageType></D>", .label), ("<D><ImageType>&#x4C;abel</ImageType></D>", .label),
    ("<D><image_type>label</image_type></D>", .label), ("<D><IMAGE-TYPE>LABEL</IMAGE-TYPE></D>", .label),
    ("<P><Property name=\"Vendor\" value=\"X\"/><Property name=\"ImageType\" value=\"Label\"/></P>", .label),
    ("<P><Property value=\"Label\" name=\"Image_Type\"/></P>", .label),
    ("<P><Property name=\"ImageType\">Label</Property></P>", .label),
    ("<plist><key>ImageType</key><string>Label</string><key>Width</key><integer>7</integer></plist>", .label),
    ("<D><ImageType><Value>Label</Value></ImageType></D>", .label), ("<D ImageType=Label />", .label),
    ("<D>Vendor=X\nImageType=Label</D>", .label),
    ("<!-- slide > --><D><ImageType>Label</ImageType></D>", .label),
    ("Scanner X\n<D><ImageType>Label</ImageType></D>", .label),
  ])
  func `descriptions with a role are recognized`(text: String, role: PictureRole) {
    #expect(PictureRole(describedBy: text) == role)
  }

  @Test(arguments: [
    "<D><ImageType>FullResolution</ImageType><Name>DAPI</Name></D>",
    "Scanner X\nBarcode: 12345\nMagnification: 20",
    "Aperio Image Library v11\r\n46000x32914 [0,100 46000x32914] (256x256) JPEG/RGB Q=30|Barcode = 12|Title = label",
    "<r ImageType=\"FullResolution\"><i ImageType=\"Label\"/></r>", "<Channel name=\"overview\"/>",
    "ImageType: ORIGINAL\\PRIMARY\\VOLUME\\NONE", "content: red wine label of 1890 in Rome",
    "{\"ImageType\": [\"ORIGINAL\", \"PRIMARY\", \"VOLUME\", \"NONE\"], \"Barcode\": \"123\", \"label\": \"S21\"}",
    "ImageType=Volume Barcode=12", "ImageType: Volume\nLabel: S21-0815", "image of type X\nBarcode: 12",
    "Label printing workshop", "Image types of labels, a study", "Etiquette", "Labels of beer, 1890",
    "<P><Property name=\"ImageType\" value=\"Volume\"/><Property name=\"Barcode\" value=\"Label\"/></P>",
    "<P><Attribute Name=\"PIM_DP_IMAGE_TYPE\">WSI</Attribute><Attribute Name=\"PIM_DP_IMAGE_TYPE\">LABELIMAGE</Attribute></P>",
    "<D><ImageType>Volume</ImageType><Note>Label: none</Note></D>", "Type: slide (20x\nBarcode: 12345",
    "Barcode = 12345", "Label: red wine", "A label printed in 1890", "Scanner X", "The label of\na bottle",
  ])
  func `other descriptions have no role`(text: String) {
    #expect(PictureRole(describedBy: text) == nil)
  }

  @Test(arguments: ["Labels", "Étiquette", "etiqueta 2", "Etiketten", "ラベル", "Übersichtsbild", "Barcodes"])
  func `other languages and plurals count only for a small picture beside a large one`(text: String) {
    #expect(PictureRole(ofSmallPictureDescribedBy: text)?.isPrivate == true)
    #expect(PictureRole(describedBy: text) == nil)
  }

  @Test func `ordinary captions of a small picture have no role`() {
    for text in [
      "Label-free SRS", "labelled cells", "Étiquette de vin", "A book of etiquette", "macrophages",
    ] {
      #expect(PictureRole(ofSmallPictureDescribedBy: text) == nil)
    }
  }

  @Test func `a description above the read limit is unreadable`() {
    #expect(PictureRole.isUnreadable(String(repeating: "x", count: 1 << 20) + "\nImageType: Label"))
    #expect(PictureRole.isUnreadable("<!DOCTYPE D [<!ENTITY l \"Label\">]><D><ImageType>&l;</ImageType></D>"))
    #expect(!PictureRole.isUnreadable("Slide"))
  }

  @Test func `the last component of a path is a name`() {
    #expect(PictureRole(pathed: "C:\\scans\\label.tif") == .label)
    #expect(PictureRole(pathed: "/scans/S21/macro.tif") == .macro)
    #expect(PictureRole(pathed: "/label/cells.tif") == nil)
  }

  /// Each would take many minutes by an expression that tries every start or every length.
  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      "image type: ", "<a", "<x ImageType   =", "<ImageType>", "[ ", "[label", "label -a", " -", "type:",
      "<ImageType ", "=\"",
      "a=", "ImageType", "image-type ", "ImageType: [", "[\"name\": \"ImageType\",", "&#76", "\\u00", "<a b=",
      "</a>",
      "<key>ImageType</key>", "ImageType\n", "label\n", "{\"type\": \"label of the ", "<![CDATA[", "]]>",
      "\\LABEL",
    ])
  func `a long description is checked in linear time`(unit: String) {
    for start in ["", "<", "label "] {
      _ = PictureRole(describedBy: start + String(repeating: unit, count: 10_000))
    }
  }
}
