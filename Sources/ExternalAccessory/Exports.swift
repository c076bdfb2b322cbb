// SPDX-License-Identifier: Apache-2.0

/// As on Apple's systems, `import ExternalAccessory` brings Foundation.
@_exported import Foundation

/// The integer of Objective-C's interfaces, which Foundation doesn't have here.
public typealias NSInteger = Int
