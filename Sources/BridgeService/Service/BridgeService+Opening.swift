// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

// Opening and closing accessories, on tasks that the service waits for in the end.

extension BridgeService {
  func open(_ attachment: Attachment) {
    attachment.generation += 1
    let (key, generation, closing) = (attachment.key, attachment.generation, attachment.closing)
    let opener = opener(for: attachment)
    // A device that profiles of different protocols match isn't opened.
    let conflict = attachment.profile == nil ? profiles.conflict(for: attachment.device, label: opener.label) : nil
    // The number of a closed pseudo-terminal is reused at once, so the path may belong to another device.
    let (known, sources) = (attachment.device.line, found.sources)
    let isTold = known.source == .simulator && found.contains(known)
    let mustLook = generation > 1 && isTold
    attachment.opening = run {
      await closing?.value
      do throws(AccessoryError) {
        if let conflict { throw conflict }
        if mustLook, await Self.isGone(known, sources) { throw .notThere(opener.label) }
        let open = try await OpenAccessory.open(opener)
        await self.opened(key, generation, open)
      } catch {
        await self.openingFailed(key, generation, error)
      }
    }
  }

  /// How the attachment's device is opened. Its traffic goes to the attachment's taps.
  func opener(for attachment: Attachment) -> DeviceOpener {
    var opener = DeviceOpener(attachment.target, profile: attachment.profile, isChosen: true, drivers: drivers)
    opener.driver = attachment.driver
    if attachment.chosenProfile != nil || attachment.profile == nil {
      opener.claims = profiles.claiming(attachment.device)
    }
    opener.tap = attachment.taps
    (opener.io, opener.clock) = (io, clock)
    return opener
  }

  /// Whether a device is no longer at its path. Numbers of pseudo-terminals are reused, so the path may be another
  /// device's, and the source may not have reported that yet.
  private static func isGone(_ device: Device, _ sources: [any DeviceSource]) async -> Bool {
    for source in sources {
      // A source that fails can't tell, so the device counts as present.
      guard let isPresent = try? await source.isPresent(device) else { return false }
      if isPresent { return false }
    }
    return true
  }

  private func opened(_ key: Int, _ generation: Int, _ open: OpenAccessory) async {
    guard !isClosing, let attachment = attachments[key], attachment.generation == generation else {
      return await open.close()
    }
    attachment.open = open
    perform(attachment.machine.opened(now: clock.now), on: attachment)
  }

  private func openingFailed(_ key: Int, _ generation: Int, _ error: AccessoryError) {
    guard let attachment = attachments[key], attachment.generation == generation else { return }
    perform(attachment.machine.openingFailed(error, now: clock.now), on: attachment)
  }

  /// Closes the device, also while it is being opened; the next opening waits for that.
  func close(_ attachment: Attachment) {
    attachment.generation += 1
    cancelTimersOfContact(attachment)
    attachment.listening?.cancel()
    attachment.listening = nil
    guard let open = attachment.open else {
      if let opening = attachment.opening {
        // The opening finds that its generation is over, and closes the device.
        opening.cancel()
        attachment.closing = opening
      }
      attachment.opening = nil
      return
    }
    (attachment.open, attachment.opening) = (nil, nil)
    let before = attachment.closing
    attachment.closing = run {
      await before?.value
      await open.close()
    }
  }
}

extension AccessoryError {
  fileprivate static func notThere(_ path: String) -> AccessoryError {
    AccessoryError(.notFound, "it is no longer at \(path)")
  }
}
