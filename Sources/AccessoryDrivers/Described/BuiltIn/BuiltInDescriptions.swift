// SPDX-License-Identifier: Apache-2.0

/// The protocols that come with this package, as the texts that users could have written, by their names.
enum BuiltInDescriptions {
  static let texts = [
    "daly": daly, "elm327": elm327, "epever": epever, "jbd": jbd, "jk": jk, "megatec": megatec, "pi30": pi30,
    "pylontech": pylontech, "renogy": renogy, "sdm120": sdm120, "srne": srne, "vedirect": vedirect, "vesc": vesc,
  ]
}
