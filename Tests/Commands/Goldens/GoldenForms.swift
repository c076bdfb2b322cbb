// SPDX-License-Identifier: Apache-2.0

/// What documents of a kind have in common, said once for all goldens: the keys of each object with the value that most of them have,
/// and what stands above the samples of a metric. `Tests/Data/Goldens/forms.txt` has it.
struct GoldenForms: Equatable, Sendable {
  /// What a key has unless a golden says something else.
  enum Usual: Equatable, Sendable {
    case value(GoldenJSON)
    /// An object in which all is as usual.
    case object
  }

  /// The keys of the objects of a name that usually have the same value.
  var objects: [String: [String: Usual]] = [:]
  /// The lines above the samples of a metric.
  var metrics: [String: [String]] = [:]

  init() {}

  /// Reads the lines of `forms.txt`.
  init(lines: [some StringProtocol]) {
    for line in lines where !line.isEmpty {
      var reader = GoldenReader(line)
      if reader.take("#") {
        let parts = line.split(separator: " ", maxSplits: 3)
        if parts.count > 2 { metrics[String(parts[2]), default: []].append(String(line)) }
        continue
      }
      let name = reader.word(until: "\t")
      objects[name] = [:]
      while reader.take("\t") {
        let key = reader.word(until: "=")
        guard reader.take("=") else { break }
        objects[name]?[key] = reader.take("~") ? .object : reader.value().map { .value($0) }
      }
    }
  }

  /// The lines of `forms.txt`.
  var lines: [String] {
    let forms = objects.sorted { $0.key < $1.key }.map { name, keys in
      let usual = keys.sorted { $0.key < $1.key }.map { key, usual in
        if case .value(let value) = usual { "\t\(key)=\(value.text)" } else { "\t\(key)=~" }
      }
      return name + usual.joined()
    }
    return forms + metrics.sorted { $0.key < $1.key }.flatMap(\.value)
  }

  /// The usual value of a key; nil if there is none.
  func usual(_ key: String, of name: String, depth: Int = 0) -> GoldenJSON? {
    switch objects[name]?[key] {
    case .value(let value): value
    case .object where depth < 8: object(of: Self.name(key, in: name), depth: depth + 1)
    default: nil
    }
  }

  /// An object in which all is as usual.
  func object(of name: String, depth: Int = 0) -> GoldenJSON {
    .object(
      (objects[name] ?? [:]).keys.sorted().compactMap { key in
        usual(key, of: name, depth: depth).map { GoldenJSON.Field(key: key, value: $0) }
      })
  }

  /// The name of the form of a document. Commands print every key; the control socket leaves out what is null.
  static func name(of question: String) -> String {
    (question.first?.isUppercase == true ? "socket " : "command ") + question
  }

  /// The name of the form of an object in another one.
  static func name(_ key: String, in parent: String) -> String {
    "\(parent.split(separator: " ", maxSplits: 1).first ?? "") .\(key)"
  }
}
