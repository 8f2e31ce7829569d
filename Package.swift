// swift-tools-version: 6.2

import PackageDescription

/// The strictest settings the compiler has; every target starts with them.
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  // Small generic functions are called across modules on every request.
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]

/// Imports point one way: ffmount → Mount → Tree → Zip → Codecs → Bytes, with FuseLink beside the Tree, Mail, Tables and
/// Index below it, Conversion beside the formats, and Text below them. ffconvert and ffpages alone link what parses PDFs and images.
let package = Package(
  name: "ffmount",
  products: [
    .executable(name: "ffmount", targets: ["ffmount"]),
    .executable(name: "ffconvert", targets: ["ffconvert"]),
    .executable(name: "ffpages", targets: ["ffpages"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .systemLibrary(name: "CFuse3", pkgConfig: "fuse3", providers: [.apt(["libfuse3-dev"])]),
    .systemLibrary(name: "CIsal", pkgConfig: "libisal", providers: [.apt(["libisal-dev"])]),
    .systemLibrary(name: "CBzip2", providers: [.apt(["libbz2-dev"])]),
    .systemLibrary(name: "CLzma", pkgConfig: "liblzma", providers: [.apt(["liblzma-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CQpdf", pkgConfig: "libqpdf", providers: [.apt(["libqpdf-dev"])]),
    .systemLibrary(name: "CPoppler", pkgConfig: "poppler-glib", providers: [.apt(["libpoppler-glib-dev"])]),
    .systemLibrary(name: "CVips", pkgConfig: "vips", providers: [.apt(["libvips-dev"])]),
    .systemLibrary(name: "CHeif", pkgConfig: "libheif", providers: [.apt(["libheif-dev"])]),
    .systemLibrary(name: "CTiff", pkgConfig: "libtiff-4", providers: [.apt(["libtiff-dev"])]),
    // Its own pkgConfig file asks for a compiler with OpenMP.
    .systemLibrary(name: "CLibRaw", providers: [.apt(["libraw-dev"])]),
    .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
    .systemLibrary(name: "CDeflate", pkgConfig: "libdeflate", providers: [.apt(["libdeflate-dev"])]),
    .target(name: "CJpeg", linkerSettings: [.linkedLibrary("jpeg")]),
    .target(name: "CPosix"),
    .target(name: "CSandbox"),
    .systemLibrary(name: "CPopplerCpp", pkgConfig: "poppler-cpp", providers: [.apt(["libpoppler-cpp-dev"])]),
    .target(name: "CPopplerText", dependencies: ["CPopplerCpp"]),
    .target(name: "CQpdfKey", dependencies: ["CQpdf"]),

    .target(name: "Bytes", swiftSettings: strict),
    .target(name: "Threads", dependencies: ["Bytes", "CPosix"], swiftSettings: strict),
    .target(name: "Files", dependencies: ["Bytes", "CPosix"], swiftSettings: strict),
    .target(
      name: "Codecs", dependencies: ["Bytes", "Threads", "CIsal", "CBzip2", "CLzma", "CZstd", "COpenSSL", "CPosix"],
      swiftSettings: strict),
    .target(name: "Text", swiftSettings: strict),
    .target(name: "Zip", dependencies: ["Bytes", "Codecs", "Text", "Threads"], swiftSettings: strict),
    .target(name: "Mail", dependencies: ["Bytes", "Text"], swiftSettings: strict),
    .target(name: "Tables", dependencies: ["Bytes", "Text", "Threads"], swiftSettings: strict),
    .target(
      name: "Index",
      dependencies: [
        "Bytes", "Files",
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ], swiftSettings: strict),
    .target(
      name: "Conversion", dependencies: ["Bytes", "Threads", "Files", "COpenSSL", "CPosix"], swiftSettings: strict),
    .target(
      name: "Tree",
      dependencies: ["Bytes", "Threads", "Files", "Codecs", "Zip", "Mail", "Tables", "Index", "Conversion"],
      swiftSettings: strict),
    .target(name: "FuseLink", dependencies: ["Threads", "CFuse3", "CPosix"], swiftSettings: strict),
    .target(
      name: "Mount",
      dependencies: [
        "Bytes", "Threads", "Files", "Tree", "FuseLink",
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .executableTarget(
      name: "ffmount",
      dependencies: [
        "Bytes", "Threads", "Files", "Index", "Zip", "Conversion", "Tree", "FuseLink", "Mount", "CPosix",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),

    .target(name: "Sandbox", dependencies: ["CSandbox", "CSeccomp"], swiftSettings: strict),
    .target(name: "JobFiles", dependencies: ["Conversion"], swiftSettings: strict),
    .target(name: "Pixels", dependencies: ["CJpeg", "CDeflate"], swiftSettings: strict),
    .target(
      name: "Documents", dependencies: ["Bytes", "Conversion", "JobFiles", "Pixels", "CQpdf", "CQpdfKey", "COpenSSL"],
      swiftSettings: strict),
    .target(
      name: "Rendering", dependencies: ["Conversion", "JobFiles", "CPoppler", "CPopplerText"], swiftSettings: strict),
    .target(
      name: "Images", dependencies: ["Conversion", "JobFiles", "Pixels", "CVips", "CHeif", "CTiff", "CLibRaw"],
      swiftSettings: strict),
    .target(name: "Workshop", dependencies: ["Conversion", "JobFiles", "Sandbox", "CPosix"], swiftSettings: strict),
    .executableTarget(
      name: "ffconvert",
      dependencies: [
        "Conversion", "JobFiles", "Documents", "Rendering", "Images", "Pixels", "Workshop", "Sandbox", "CPosix",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "ffpages", dependencies: ["Conversion", "JobFiles", "Documents", "Workshop"], swiftSettings: strict),

    .target(name: "TestSupport", dependencies: ["Bytes"], path: "Tests/TestSupport", swiftSettings: strict),
    .target(
      name: "Fuzzing",
      dependencies: [
        "Bytes", "Files", "Codecs", "Zip", "Mail", "Tables", "Index", "Conversion", "Tree", "TestSupport",
      ], path: "Tests/Fuzzing", swiftSettings: strict),
    .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
    .executableTarget(
      name: "fuzz", dependencies: ["Fuzzing", "CFuzzer"], path: "Tests/Fuzz", swiftSettings: strict),
    .testTarget(
      name: "BytesTests", dependencies: ["Bytes", "Threads", "Text", "Files", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "TreeTests",
      dependencies: [
        "Bytes", "Threads", "Files", "Codecs", "Mail", "Index", "Conversion", "Tree", "TestSupport", "Fuzzing",
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ZipTests", dependencies: ["Bytes", "Threads", "Codecs", "Zip", "TestSupport", "Fuzzing"],
      swiftSettings: strict),
    .testTarget(
      name: "ConversionTests", dependencies: ["Bytes", "Files", "Conversion", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "MailTests", dependencies: ["Bytes", "Mail", "TestSupport", "Fuzzing"], swiftSettings: strict),
    .testTarget(name: "TablesTests", dependencies: ["Bytes", "Tables", "TestSupport"], swiftSettings: strict),
    .testTarget(name: "IndexTests", dependencies: ["Bytes", "Index", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "AnswerTests",
      dependencies: [
        "Bytes", "Files", "Tree", "FuseLink", "Mount", "CFuse3", "TestSupport",
        .product(name: "Logging", package: "swift-log"),
      ], swiftSettings: strict),
    .testTarget(name: "MountTests", dependencies: ["TestSupport"], swiftSettings: strict),
  ]
)
