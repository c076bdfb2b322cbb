// SPDX-License-Identifier: Apache-2.0

extension Bridge.Device {
  /// The bytes of all texts, for limits of what is kept.
  package var textByteCount: Int {
    var texts: [String?] = [id, path, source, link, driver, name, manufacturer, model, serial, terminal]
    texts += (links + ways).map(Optional.some)
    texts += [access?.refusal, access?.holder, usb?.node, usb?.port, usb?.damage]
    for interface in usb?.interfaces ?? [] {
      texts += [interface.class_name, interface.driver]
      for endpoint in interface.endpoints { texts += [endpoint.direction, endpoint.transfer] }
    }
    return texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
  }
}
