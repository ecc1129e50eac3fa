import Testing
import TileStorage

@testable import ZigguratMetadata

/// Texts by programs and by people in the fields of captions.
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
    "PatientName,PatientID,Sex\nDoe John,123,M", "PatientName     Doe John\nPatientID       123",
    "PatientName Doe John PatientID 123 StudyDate 20200101", "PatientName#Doe John#PatientID#123",
    "PatientName -> Doe John", "PatientName/Doe John/PatientID/123", "<p>PatientName: Doe John</p>",
    "<p>Patient name: Doe John</p>", "PatientName： Doe John", "Patient\u{2019}s name： Doe John",
    "0010,0010 PN PatientName Doe John", "patient_id=7", "patient-name: Roe", "Patient Name    Doe John",
    "Patient Name -> Doe John", "Pt Name: John Doe", "Name of patient: John Doe",
    "Slide of today. Name of the patient: John Doe", "Pt: John Doe, MRN 123456", "MRN 12345678",
    "MRN# 12345678 Doe, John", "Hospital No: 123456", "NHS Number: 943 476 5919", "nhs no. 943 476 5919",
    "Name: John Doe, DOB 1970-02-01", "Case S21-0815 of John Doe, DOB 02/01/1970",
    "Patient DOE, JOHN (M) 19700201 ID 123456", "Patientenname: Müller Anna",
    "Patientin: Müller, Anna\nBefund: Karzinom der Lunge mit Metastasen.",
    "Geb.-Datum: 01.02.1970 Name: Anna Müller", "GEBURTSDATUM: 1.2.1970", "Nom du patient : Dupont, Marie",
    "Date de naissance: 1.2.1970", "Paciente: María García", "Nombre del paciente: María",
    "Fecha de nacimiento = 1.2.1970", "Nome del paziente: Maria", "Data di nascita: 1.2.1970",
    "Fødselsdato: 1.2.1970", "Imię pacjenta: Anna", "Дата рождения: 1.2.1970", "患者氏名：山田花子",
    "生年月日: 1970-02-01", "환자명: 김", "\u{feff}Patient Name: Roe",
    "Physician: Dr. Example\nWard: 3", "Objective: 20x\r\nMagnification: 200",
  ])
  func `a key list, a document or a patient field is no caption`(text: String) {
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
    "港: 夕暮れ", "Portrait of a patient", "Portrait of a patient: oil on canvas", "Patients at the window, 1912",
    "The patients and their names, a play", "Nurse with patient no. 7",
    "Porträt einer Patientin: Öl auf Leinwand", "Patientin am Fenster", "La patiente attend; dessin",
    "El paciente inglés: cartel de la película", "Patient  waiting", "Hospital No. 5, Rome",
    "Geburtstag im Garten", "Doctor and patient, date unknown", "A patient-specific implant",
    "Name of the rose: a novel", "The hospital, number 12 of a series",
  ])
  func `text by a person stays, even with a colon`(text: String) {
    #expect(!MachineText.isSuspected(text))
  }

  /// Each would take many minutes by an expression that tries every start or every length.
  @Test(
    .timeLimit(.minutes(5)),
    arguments: [
      ("y", ""), ("<", ""), ("<a", ""), ("<a ", ""), ("<a>", ""), (" ", "x"), ("[", ""), ("[ ", ""),
      ("{\"", ""),
      ("(00", ""), ("^", ""), ("yy^", ""), (":", "x"), (" = ", ""), ("a ", "="), ("\n", "x"), ("A", "a1: b"),
      ("Aa:", ""), ("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1:\n", ""), ("<Samsung", ""), ("</a", ""), ("é", ""),
    ])
  func `a long text is checked in linear time`(unit: String, end: String) {
    for start in ["", "<", "Aa", "<a", "date:", "[{\""] {
      let text = start + String(repeating: unit, count: 20_000) + end
      _ = MachineText.isSuspected(text)
      #expect(ImageMetadata.isoDate(text) == nil)
    }
  }
}
