/// One option `--name value` or flag `--flag` of a command. Each can also be set as `ZIGGURAT_<NAME>`, and in a file of
/// `--config` if the command has that option.
struct Option {
  /// A section of the help.
  enum Group: String, CaseIterable {
    case general = "General"
    case network = "Network"
    case library = "Library"
    case pages = "Pages"
    case changes = "Changes and uploads"
    case spaces = "Private spaces"
    case tiles = "Tiles"
    case images = "Images"
    case stacks = "Stacks and documents"
    case sources = "Sources"
    case runs = "Run"
    case plans = "Plans and shards"
    case rendering = "Rendering"
    case limits = "Limits"
    case caches = "Caches"
    case logs = "Logs"
    case output = "Output"
  }

  /// A name of an earlier release. It works until 2.0, with a warning.
  struct FormerName: ExpressibleByStringLiteral {
    let name: String
    /// The present value for each value of the former option; nil if they are the same.
    let values: [String: String]?
    /// The present value if the former option was a flag and the present one is not.
    let flagValue: String?

    init(stringLiteral name: String) { (self.name, values, flagValue) = (name, nil, nil) }

    init(_ name: String, values: [String: String]) {
      self.name = name
      self.values = values
      flagValue = nil
    }

    init(flag name: String, value: String) { (self.name, values, flagValue) = (name, nil, value) }
  }

  let name: String
  /// The placeholder of the value in the help; nil for a flag.
  let value: String?
  /// The unit of a plain number; nil if the value is not a quantity.
  let unit: Quantity.Unit?
  /// Whether the option may be given several times, which equals one list separated by commas.
  let isList: Bool
  /// Whether it is a flag that may have a value, as in `--flag=value`.
  let isValueOptional: Bool
  /// The option that this one requires. Without it on the command line, this one is an error.
  let required: String?
  let former: [FormerName]
  /// The reason why the option of an earlier release has no effect any more; nil if it has one.
  let removal: String?
  /// Whether the short help lists the option.
  let isCommon: Bool
  /// Whether the option is for the program itself, and appears in no help.
  let isHidden: Bool
  var group = Group.general
  private let summary: String
  private let defaultValue: String?

  /// - Parameters:
  ///   - value: the placeholder of the value; nil for a flag.
  ///   - defaultValue: the default, as the help shows it.
  ///   - former: the former name of the option.
  ///   - help: the setting of the option, beginning with a noun or a verb, without unit and default.
  init(
    _ name: String, _ value: String? = nil, default defaultValue: String? = nil, isList: Bool = false,
    requires required: String? = nil, was former: FormerName..., isCommon: Bool = false,
    isHidden: Bool = false, help: String
  ) {
    self.name = name
    self.value = value
    unit = nil
    isValueOptional = false
    self.defaultValue = defaultValue
    self.isList = isList
    self.required = required
    self.former = former
    self.isCommon = isCommon
    self.isHidden = isHidden
    removal = nil
    summary = help
  }

  /// Creates an option for a size, a duration or a number of pixels.
  ///
  /// - Parameter unit: the unit of a plain number.
  init(
    _ name: String, _ unit: Quantity.Unit, default defaultValue: String? = nil,
    requires required: String? = nil, was former: FormerName..., isCommon: Bool = false, help: String
  ) {
    self.name = name
    value = unit.quantity.placeholder
    self.unit = unit
    isValueOptional = false
    self.defaultValue = defaultValue
    isList = false
    self.required = required
    self.former = former
    self.isCommon = isCommon
    isHidden = false
    removal = nil
    summary = help
  }

  init(_ name: String, optional value: String, isCommon: Bool = false, help: String) {
    self.name = name
    self.value = value
    unit = nil
    isValueOptional = true
    defaultValue = nil
    isList = false
    required = nil
    former = []
    self.isCommon = isCommon
    isHidden = false
    removal = nil
    summary = help
  }

  /// Creates an option of an earlier release. Until 2.0 it is accepted with a warning, and has no effect.
  ///
  /// - Parameters:
  ///   - value: the placeholder of its former value; nil for a flag.
  ///   - reason: a clause that names the option's replacement, or its constant value.
  init(removed name: String, _ value: String? = "VALUE", was former: FormerName..., withReason reason: String)
  {
    self.name = name
    self.value = value
    unit = nil
    isValueOptional = false
    // It may be given several times, with any value.
    defaultValue = nil
    isList = true
    required = nil
    self.former = former
    isCommon = false
    isHidden = true
    removal = reason
    summary = reason
  }

  /// The option's text in the help: the setting, its unit and its default.
  var help: String {
    let notes = [
      unit.map { "in \($0.name)" }, defaultValue.map { "default\($0.contains(" ") ? ":" : "") \($0)" },
    ].compactMap { $0 }
    return notes.isEmpty ? summary : "\(summary) (\(notes.joined(separator: ", ")))"
  }

  /// The option and its value, as the help shows them.
  var head: String {
    guard let value else { return "--\(name)" }
    return isValueOptional ? "--\(name) [=\(value)]" : "--\(name) \(value)"
  }

  /// The name of the environment variable: `ZIGGURAT_TILE_SIZE` for `tile-size`.
  var environmentName: String { Self.environmentName(name) }

  static func environmentName(_ name: String) -> String {
    "ZIGGURAT_" + name.uppercased().replacing("-", with: "_")
  }
}

extension [Option] {
  /// Returns the options as a section of the help.
  func grouped(_ group: Option.Group) -> [Option] {
    map {
      var option = $0
      option.group = group
      return option
    }
  }
}
