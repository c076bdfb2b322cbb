// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration

// Reads the `share:` key: the endpoints at which the service shares the accessory.
extension ProfileReader {
  mutating func sharing(_ node: YAMLNode, allowsWrites: Bool) -> ProfileSharing? {
    guard let fields = fields(node, "share", KnownKeys.share) else { return nil }
    var sharing = ProfileSharing()
    sharing.terminal = fields["pty"].flatMap { plainName($0, "the name of a terminal") }
    sharing.socket = fields["unix"].flatMap { plainName($0, "the name of a socket") }
    if fields["pty"] == nil, fields["unix"] == nil {
      report(node.mark, "share says where programs find the accessory: pty: NAME, unix: NAME, or both")
    }
    if let name = sharing.terminal, name == sharing.socket, let node = fields["unix"] {
      report(node.mark, "the terminal has this name already: both are in one folder")
    }
    set(
      &sharing.writers,
      fields["writers"].flatMap { word($0, "writers", among: ProfileSharing.Writers.allCases.map(\.rawValue)) }
        .flatMap(ProfileSharing.Writers.init))
    set(
      &sharing.unplug,
      fields["unplug"].flatMap { word($0, "unplug", among: ProfileSharing.Unplug.allCases.map(\.rawValue)) }
        .flatMap(ProfileSharing.Unplug.init))
    set(&sharing.asksToWrite, fields["write"].flatMap { flag($0, "write") })
    if sharing.asksToWrite, !allowsWrites, let node = fields["write"] {
      report(node.mark, "write: true needs writes: allowed in the profile, too")
    }
    if sharing.asksToWrite, sharing.writers == .none, let node = fields["write"] {
      report(node.mark, "write: true says that programs may change something, and writers: none that nobody writes")
    }
    return sharing
  }
}
