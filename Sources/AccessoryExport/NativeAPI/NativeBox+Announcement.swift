// SPDX-License-Identifier: Apache-2.0

extension NativeBox {
  /// How Home Assistant finds this machine at `port`: by the name of the device, with what ESPHome's nodes tell.
  func announcement(port: UInt16) -> AnnouncedService {
    var text = [
      "mac=" + macText(separator: "", isUpper: false), "friendly_name=\(friendlyName)", "version=\(version)",
      "platform=host", "board=gateway", "network=ethernet", "project_name=Accessory Bridge.Gateway",
      "project_version=\(version)",
    ]
    // It makes Home Assistant ask for the key at once.
    if isEncrypted { text.append("api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256") }
    return AnnouncedService(name: name, type: "_esphomelib._tcp", port: port, text: text.map { cut($0) })
  }

  /// As much as one string of a TXT record holds (RFC 6763, section 6.1), in whole characters.
  private func cut(_ text: String) -> String {
    var text = text
    while text.utf8.count > 255 { text.removeLast() }
    return text
  }
}

extension HomeAssistantBox.Settings {
  /// How Home Assistant finds the box at `port`.
  package func announcement(port: UInt16) -> AnnouncedService { box.announcement(port: port) }
}
