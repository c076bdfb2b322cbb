// SPDX-License-Identifier: Apache-2.0

/// As on Apple's systems, `import CoreBluetooth` also imports Foundation.
@_exported import Foundation
