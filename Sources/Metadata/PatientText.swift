/// Fields about patients, in the languages and spellings of programs and people.
enum PatientText {
  /// Whether a text has such a field. A picture's caption may mention patients: `Portrait of a patient`.
  static func isFound(in text: String) -> Bool {
    let text = FoldedText.folded(text).lowercased()
    return hasIdentifier(text) || hasNumber(text) || hasField(text)
  }

  // MARK: Names of fields in programs' spelling

  /// Whether the text contains such an identifier, like `PatientName` or `patient_id`, with any separator before its
  /// value.
  private static func hasIdentifier(_ text: String) -> Bool {
    text.split { !($0.isLetter || $0.isNumber || "_-.'".contains($0)) }.contains {
      identifiers.contains($0.filter(\.isLetter))
    }
  }

  /// The identifiers in lower case, folded, letters only.
  private static let identifiers: Set<String> = {
    let fields = [
      "name", "firstname", "lastname", "givenname", "familyname", "fullname", "id", "ids", "identifier",
      "sex",
      "gender", "age", "dob", "birthdate", "birthday", "birthtime", "dateofbirth", "number", "address",
      "phone",
      "comments", "ssn", "mrn", "weight", "size", "surname", "forename",
    ]
    let owners = ["patient", "patients", "dicompatient", "otherpatient", "issuerofpatient"]
    let others = [
      "patname", "patid", "patdob", "ptname", "ptid", "ptdob",
      "medicalrecordnumber", "medicalrecordno", "medicalrecordid", "socialsecuritynumber", "accessionnumber",
      "studyinstanceuid", "seriesinstanceuid", "sopinstanceuid", "studyid", "referringphysician",
      "referringphysicianname", "referringphysiciansname", "performingphysicianname", "requestingphysician",
      "nameofphysiciansreadingstudy", "institutionname", "patientenname", "patientenid", "patientennr",
      "patientennummer", "patientnaam", "patientnummer", "patientnamn", "patientnavn", "nompatient",
      "idpatient",
      "nombrepaciente", "idpaciente", "nomepaziente", "nomepaciente", "patientbirthname",
    ]
    return Set(owners.flatMap { owner in fields.map { owner + $0 } } + others)
  }()

  // MARK: Numbers

  /// Whether a number follows a name of a patient number: `MRN 12345678`, `NHS no. 943 476 5919`, `DOB 1970-02-01`.
  /// Also whether an id or a date of birth follows a name for a patient.
  private static func hasNumber(_ text: String) -> Bool {
    let words = text.split { !($0.isLetter || $0.isNumber) }
    func digits(_ place: Int) -> Int {
      words.indices.contains(place) && words[place].allSatisfy(\.isNumber) ? words[place].count : 0
    }
    let hasPatient = words.contains { patients.contains(String($0)) }
    for (place, word) in words.enumerated() {
      switch word {
      case "mrn", "dob", "ssn": if digits(place + 1) > 0 { return true }
      case "number", "no", "nr", "id", "nummer", "numero":
        guard digits(place + 1) > 0, place > 0 else { continue }
        let owner = String(words[place - 1])
        if ["nhs", "chi"].contains(owner) || owners.contains(owner) && digits(place + 1) >= 4 { return true }
        if hasPatient, word == "id", digits(place + 1) >= 4 { return true }
      case "nhs": if digits(place + 1) >= 3 { return true }
      default: break
      }
    }
    return false
  }

  private static let owners: Set<String> = ["patient", "patients", "pt", "hospital", "mrn", "paciente"]

  private static let patients: Set<String> = ["patient", "patientin", "patiente", "paciente", "paziente"]

  // MARK: Keys of several terms

  /// Whether the text has such a key before a separator.
  private static func hasField(_ text: String) -> Bool {
    let text = text.replacing("->", with: "\t").replacing("=>", with: "\t").replacing("→", with: "\t")
    let key = key
    for part in text.split(whereSeparator: { $0.isNewline || ";|,{}<>\"".contains($0) }) {
      var rest = part
      var isFirst = true
      while let end = rest.firstIndex(where: { ":=\t".contains($0) }) {
        let words = rest[..<end].suffix(maxKeyLength).split(whereSeparator: \.isWhitespace).suffix(maxTerms)
        // The whole key is before the first separator; later terms follow a value.
        for start in words.indices.reversed() {
          let letters = words[start...].joined().filter { $0.isLetter || $0.isNumber }
          if keys.contains(letters) { return true }
          let isWhole = isFirst && start == words.startIndex && rest[..<end].count <= maxKeyLength
          if isWhole, letters.wholeMatch(of: key) != nil { return true }
        }
        rest = rest[end...].dropFirst()
        isFirst = false
      }
      if hasColumn(part) { return true }
    }
    return false
  }

  private static let maxKeyLength = 40
  private static let maxTerms = 5

  /// Whether a key is separated from its value by several blanks.
  private static func hasColumn(_ part: Substring) -> Bool {
    let part = part.drop(while: \.isWhitespace)
    guard let gap = part.firstRange(of: "  ") else { return false }
    let key = part[..<gap.lowerBound].suffix(maxKeyLength).filter { $0.isLetter || $0.isNumber }
    return keys.contains(key)
  }

  /// Names of fields that refer to patients alone, also at the end of a sentence: `Scan of today. Name of patient: …`
  private static let keys: Set<String> = {
    let patients = [
      "patient", "patients", "patiente", "paciente", "paziente", "pasient", "pacjent", "pacjenta", "pacienta",
      "pt",
    ]
    let names = [
      "name", "fullname", "nom", "prenom", "nombre", "nome", "naam", "namn", "navn", "jmeno", "imie",
    ]
    let links = ["", "of", "ofthe", "du", "dela", "del", "do", "da", "de", "des", "der", "van", "vande"]
    let fields = ["name", "id", "no", "nr", "number", "dob", "sex", "age", "nummer", "naam", "namn", "navn"]
    let others = [
      "dateofbirth", "dob", "mrn", "ssn", "medicalrecordnumber", "medicalrecordno", "socialsecuritynumber",
      "hospitalno", "hospitalnumber", "hospitalid", "nhsnumber", "nhsno", "chinumber",
      "insurancenumber", "insuranceno", "healthcardnumber",
      // German
      "patientenname", "patientenid", "patientennr", "patientennummer", "patientenvorname",
      "geburtsdatum", "gebdatum", "versichertennummer", "versichertennr", "fallnummer", "fallnr",
      // French
      "datedenaissance", "numerodedossier", "numerodesecuritesociale", "numerosecuritesociale",
      "ippdupatient",
      // Spanish and Portuguese
      "fechadenacimiento", "fechanacimiento", "historiaclinica", "numerodehistoriaclinica",
      "datadenascimento",
      "numerodoprontuario", "prontuario",
      // Italian and Dutch
      "datadinascita", "codicefiscale", "geboortedatum", "burgerservicenummer",
      // Swedish, Danish, Norwegian, Polish, Czech
      "personnummer", "cprnummer", "cprnr", "fodelsedatum", "fodselsdato", "fodselsnummer", "pesel",
      "dataurodzenia", "rodnecislo", "datumnarozeni",
      // Russian, Chinese, Japanese, Korean
      "фиопациента", "имяпациента", "датарождения", "患者姓名", "患者名", "患者id", "患者编号",
      "患者番号", "患者氏名", "病人姓名", "出生日期", "生年月日", "환자명", "환자이름", "환자번호", "생년월일",
    ]
    let all =
      names.flatMap { name in links.flatMap { link in patients.map { name + link + $0 } } }
      + patients.flatMap { patient in fields.map { patient + $0 } } + others
    return Set(all.map { FoldedText.folded($0).lowercased() })
  }()

  /// Names of fields that also occur in sentences: they must be the whole text before the separator.
  private static var key: Regex<Substring> {
    #/
      patients?(?:firstname|lastname|name|id|identifier|age|sex|gender|dob|birth\w*|number|no|nr|address|comments)?
      | patientin | patiente | paciente | paziente | pasient | pacjent | pacjentka | пациент | пациентка | 患者
      | mrn | ssn | dob | (?:date|day)ofbirth | birthda(?:te|y) | medicalrecord\w* | socialsecurity\w*
      | accession(?:number|no)? | (?:case|specimen|slide|container|study)(?:id|identifier|number|no)
      | (?:study|series|sopinstance|instance)\w*uid | (?:(?:referring|performing|requesting)\w*)?physicians?\w*
      | institutionname
    /#
  }
}
