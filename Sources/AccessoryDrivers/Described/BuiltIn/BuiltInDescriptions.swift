// SPDX-License-Identifier: Apache-2.0

/// The protocols that are built into this package, by name, in the same format as users' descriptions.
enum BuiltInDescriptions {
  static let texts = [
    "daly": daly, "elm327": elm327, "epever": epever, "jbd": jbd, "jk": jk, "megatec": megatec, "pi30": pi30,
    "pylontech": pylontech, "renogy": renogy, "sdm120": sdm120, "srne": srne, "vedirect": vedirect, "vesc": vesc,
  ]
}
