// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryIO
import BridgeService
import CommandOutput
import Glibc

/// A file with options of `export home-assistant`: `ports: [zigbee=A10K01WZ]`. It lies beside service.yaml.
enum HomeAssistantFile {
  static let name = "home-assistant.yaml"

  /// The keys of the file, and the option for each key.
  private static let options: [(key: SettingsFile.Key, option: String)] = [
    (.init("ports", .texts, problem: ShareFile.form(OfferedPort.self)), "--port"),
    (.init("write", .flag), "--write"),
    (.init("listen", .texts, problem: ShareFile.form(ListeningPlace.self)), "--listen"),
    (.init("allow", .texts, problem: ShareFile.form(NetworkArgument.self)), "--allow"),
    (.init("name", .text), "--name"),
  ]

  /// Reads the file at `path`, or the usual one; nil where there is none. Throws `misconfigured` with all mistakes in it.
  static func read(_ path: String?) async throws(AccessoryError) -> ExportHomeAssistant? {
    do throws(ProfileProblems) {
      let file = try await SetupQueue(label: name).run { () throws(ProfileProblems) -> (String, [String])? in
        let usual = ServiceSettings.usualFolders().map { "\($0)/\(name)" }
        guard let path = path ?? usual.first(where: { access($0, F_OK) == 0 }) else { return nil }
        return (
          path, try SettingsFile.arguments(path: path, what: "a server for Home Assistant", options: options).arguments
        )
      }
      guard let (path, arguments) = file else { return nil }
      do {
        return try ExportHomeAssistant.parse(arguments)
      } catch {
        // A combination of options that is wrong has no position in the file.
        throw ProfileProblems(
          problems: [ProfileProblem(file: path, line: 1, column: 1, message: ExportHomeAssistant.message(for: error))])
      }
    } catch {
      throw AccessoryError(error)
    }
  }
}
