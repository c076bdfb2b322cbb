// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO

// Opening and closing accessories, on tasks that the service waits for in the end.

extension BridgeService {
  func open(_ attachment: Attachment) {
    let key = attachment.key
    let opener = opener(for: attachment)
    // A device that profiles of different protocols match isn't opened.
    let conflict = attachment.profile == nil ? profiles.conflict(for: attachment.device, label: opener.label) : nil
    // The number of a closed pseudo-terminal is reused at once, so the path may belong to another device.
    let (known, sources) = (attachment.device.line, found.sources)
    let isTold = known.source == .simulator && found.contains(known)
    attachment.contact.begin { generation, closing in
      let mustLook = generation > 1 && isTold
      return run {
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
  }

  /// How the attachment's device is opened. Its traffic goes to the attachment's taps.
  func opener(for attachment: Attachment) -> DeviceOpener {
    var opener = opener(for: attachment.claim)
    opener.tap = attachment.contact.taps
    return opener
  }

  func opener(for claim: AttachmentClaim) -> DeviceOpener {
    var opener = DeviceOpener(claim.target, profile: claim.profile, isChosen: true, drivers: drivers)
    opener.driver = claim.driver
    if claim.chosenProfile != nil || claim.profile == nil { opener.claims = profiles.claiming(claim.device) }
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
    attachment.contact.opened(open)
    perform(attachment.machine.opened(now: clock.now), on: attachment)
  }

  private func openingFailed(_ key: Int, _ generation: Int, _ error: AccessoryError) {
    guard let attachment = attachments[key], attachment.generation == generation else { return }
    perform(attachment.machine.openingFailed(error, now: clock.now), on: attachment)
  }

  /// Closes the device, also while it is being opened; the next opening waits for that.
  func close(_ attachment: Attachment) {
    attachment.readings.forgetNews()
    attachment.contact.close(clock) { run($0) }
  }
}

extension AccessoryError {
  fileprivate static func notThere(_ path: String) -> AccessoryError {
    AccessoryError(.notFound, "it is no longer at \(path)")
  }
}
