// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import ArgumentParser

/// The words that a shell offers while a command is typed: names that exist at that moment. If none matches, the shell
/// offers files (`CompletionScript`).
enum CompletionWords {
  /// Names of accessories.
  static let devices = CompletionKind.custom { words, index, prefix in
    offer(prefix.contains("/") ? [] : names(of: await devices()), prefix)
  }

  /// Addresses of Bluetooth devices: of those that are connected, paired or trusted. Nothing is searched.
  static let air = CompletionKind.custom { words, index, prefix in
    let devices = (try? await KnownDevices.source().devices()) ?? []
    return offer(names(of: devices.filter { $0.bluetooth != nil }), prefix)
  }

  /// Names of the kernel's Bluetooth adapters.
  static let adapters = CompletionKind.custom { words, index, prefix in
    offer(BluetoothPlace.adapters().sorted().map { Word($0) }, prefix)
  }

  /// Paths of serial ports.
  static let ports = CompletionKind.custom { words, index, prefix in
    let nodes = await devices().compactMap(\.address.node)
    return offer(Set(SerialPorts.paths() + nodes).sorted().map { Word($0) }, prefix)
  }

  /// Names of drivers.
  static let drivers = CompletionKind.custom { words, index, prefix in
    offer(KnownDrivers.library.all.map { Word($0.name) }, prefix)
  }

  /// Boards whose reset is known.
  static let resets = CompletionKind.custom { words, index, prefix in
    offer(ResetArgument.names.map { Word($0) }, prefix)
  }

  /// Names of profiles.
  static let profiles = CompletionKind.custom { words, index, prefix in
    let profiles = await KnownProfiles.store.profiles.sorted { $0.name < $1.name }
    return offer(profiles.map { Word($0.name) }, prefix)
  }

  /// Names of described protocols, and of profiles.
  static let protocols = CompletionKind.custom { words, index, prefix in
    let profiles = await KnownProfiles.store.profiles.map(\.name)
    let names = Set(KnownDrivers.library.protocols.names + profiles)
    return offer(names.sorted().map { Word($0) }, prefix)
  }

  /// Names of accessories, and after one, the commands of its driver.
  static let requests = CompletionKind.custom { words, index, prefix in
    let devices = await devices()
    guard let command = words.firstIndex(of: "request"), index > command + 1 else {
      return offer(prefix.contains("/") ? [] : names(of: devices), prefix)
    }
    let device = devices.first { $0.isCalled(words[command + 1]) }
    var driver = device?.driver
    if driver == nil, let device { driver = await KnownProfiles.store.profile(for: device)?.driver }
    if let option = words.firstIndex(of: "--driver"), option + 1 < words.count { driver = words[option + 1] }
    let commands = driver.flatMap { KnownDrivers.library.driver(named: $0) }?.commands ?? []
    return offer(commands.map { Word($0.name, $0.summary) }, prefix)
  }

  /// No words: a path on the accessory, or free text. Files of this machine would be wrong here.
  static let nothing = CompletionKind.list([])

  // MARK: - Words

  /// A word with its description, for shells that show one.
  private struct Word {
    let text: String
    let about: String

    init(_ text: String, _ about: String = "") { (self.text, self.about) = (text, about) }
  }

  private static func devices() async -> [Device] {
    guard let all = try? await KnownDevices.source().devices() else { return [] }
    return await KnownDevices.accessories(on: all.filter(\.mayBeAccessory))
  }

  /// One word for each device: its identity, or its path where a shell would interpret characters of the identity.
  private static func names(of devices: [Device]) -> [Word] {
    devices.map { device in
      let about = [device.given?.name ?? device.name ?? device.model, device.driver, device.place].compactMap { $0 }
      return Word(isPlain(device.id) ? device.id : device.place, about.joined(separator: ", "))
    }
  }

  // MARK: - Form

  /// The words that begin with `prefix`, in the form that the shell expects.
  private static func offer(_ all: [Word], _ prefix: String) -> [String] {
    return all.filter { isPlain($0.text) && $0.text.hasPrefix(prefix) }.map { word in
      let about = SafeText.escape(word.about, limit: 100)
      guard !about.isEmpty else { return shown(word.text) }
      switch CompletionShell.requesting {
      case .zsh?: return shown(word.text) + ":" + about
      case .fish?: return word.text + "\t" + about
      default: return word.text
      }
    }
  }

  /// zsh reads the text after a colon as the word's description, so colons are escaped.
  private static func shown(_ text: String) -> String {
    CompletionShell.requesting == .zsh
      ? text.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:") : text
  }

  /// Whether a shell takes the text literally. bash expands the words that it is offered, so `$(…)` in a device's
  /// serial number would be executed.
  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && !text.hasPrefix("-") && text.utf8.allSatisfy { $0.isLetterOrDigit(or: "._:/@+,=%-") }
  }
}

extension Device {
  /// Whether a typed word names this device.
  fileprivate func isCalled(_ word: String) -> Bool {
    word == id || word == name || word == place || word == serialNumber
  }
}
