import Testing
import TileStorage

@testable import Metadata

/// What programs and what people write into the fields that captions are read from.
@Suite struct MachineTextTests {
  @Test(arguments: [
    "PatientName: ROE^JANE\nPatientID: 12345", "PatientName: ROE^JANE", "PatientID=12345",
    "Patient Name: Jane Roe",
    "Patient's name: Jane Roe; Sex: F", "Slide of today\nPatient ID: 7\nstained", "MRN: 00123",
    "Date of birth: 1960-02-03", "Accession Number: S21-0815", "ROE^JANE", "(0010,0010) PN [Roe]",
    "StudyInstanceUID: 1.2.840.1", "{\"PatientName\": \"Roe\"}", "{\n  \"PatientName\": \"Roe", "[1, 2, 3]",
    "<?xml version=\"1.0\"?><a>", "<Patient><Name>Roe</Name></Patient>", "scan <Name>Roe</Name> ended",
    "Exposure: 20 ms\nGain: 2\nBinning: 1x1", "ExposureTime: 0.01", "exposure_time: 12",
    "Name: Jane Roe\nAge: 43",
    "[Scanner]\nObjective: 20\nBarcode: 12", "key=value\nother=thing", "ImageJ=1.53t\nunit=um",
    "Physician: Dr. Example\nWard: 3", "Objective: 20x\r\nMagnification: 200",
  ])
  func `a list of keys, a document or a patient's field is no caption`(text: String) {
    #expect(MachineText.isSuspected(text))
  }

  @Test(arguments: [
    "Rome: the Forum at dusk", "Left to right: Anna Berg, Carl Dahl and a dog", "Photo: Jane Doe",
    "Untitled [study]",
    "JavaScript: The Good Parts", "The patient dog waits", "Patience: a card game", "Labelled cells",
    "Rome: the Forum at dusk.\nNaples: the bay at dawn.", "Harbour of Porto\nPhoto: Jane Doe",
    "At 12:30: the gun", "[1923]",
    "https://example.org/about: read more", "A <b>bold</b> word", "x = y, as they say", "2 < 3 and 5 > 4",
    "Portraits (1912,1913)", "The harbour,\nafter rain.", "Bild: Blick auf die Alpen; rechts der Eiger",
    "港: 夕暮れ",
  ])
  func `a person's words stay, with a colon in them too`(text: String) {
    #expect(!MachineText.isSuspected(text))
  }

  /// Each would take many minutes by an expression that tries every start or every length.
  @Test(
    .timeLimit(.minutes(1)),
    arguments: [
      ("y", ""), ("<", ""), ("<a", ""), ("<a ", ""), ("<a>", ""), (" ", "x"), ("[", ""), ("[ ", ""),
      ("{\"", ""),
      ("(00", ""), ("^", ""), ("yy^", ""), (":", "x"), (" = ", ""), ("a ", "="), ("\n", "x"), ("A", "a1: b"),
      ("Aa:", ""), ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1:\n", ""), ("<Samsung", ""), ("</a", ""), ("é", ""),
    ])
  func `a long text takes no longer than its length`(unit: String, end: String) {
    for start in ["", "<", "Aa", "<a", "date:", "[{\""] {
      let text = start + String(repeating: unit, count: 20_000) + end
      _ = MachineText.isSuspected(text)
      #expect(ImageMetadata.isoDate(text) == nil)
    }
  }
}
