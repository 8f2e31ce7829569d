// swift-tools-version: 6.2

import PackageDescription

/// The strictest settings the compiler has; every target starts with them.
let checked: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableExperimentalFeature("Lifetimes"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

/// These settings, and code that other modules can specialise: small generic functions are called across modules on
/// every request.
let specialised = checked + [.unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))]

/// These settings, and the optimiser with assertions in debug builds, for the modules in whose loops over bytes and names
/// tests would spend most of their time. It takes three times as long to build as without, which others do not make up for.
/// A module is optimised as a whole, since by file it takes half as long again.
let optimised =
  specialised + [
    .unsafeFlags(["-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"], .when(configuration: .debug))
  ]

/// A module in one of the layers, the folders of `Sources`, or a layer by itself. Imports go downwards only: `scripts/check imports`
/// says which layer may import which.
func module(
  _ name: String, in layer: String = "", _ dependencies: [Target.Dependency] = [], _ settings: [SwiftSetting]? = nil
) -> Target {
  let usual = ["Base", "Parsers"].contains(layer) ? optimised : specialised
  return .target(
    name: name, dependencies: dependencies, path: "Sources/\(layer)/\(name)", swiftSettings: settings ?? usual)
}

/// A release build exports no symbols, which its static Swift runtime would otherwise all do: 14,000 of ffmount, of which
/// libraries use none.
///
/// - Parameter symbols: of its own, which libraries use instead of those of other libraries.
/// - Parameter files: whose bytes become part of the program.
func program(
  _ name: String, _ dependencies: [Target.Dependency], exporting symbols: [String] = [], embedding files: [String] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Sources/Programs/\(name)",
    resources: files.map { .embedInCode($0) }, swiftSettings: specialised,
    linkerSettings: [.unsafeFlags(["-Xlinker", "--no-export-dynamic"], .when(configuration: .release))]
      + symbols.map { .unsafeFlags(["-Xlinker", "--export-dynamic-symbol=\($0)"]) })
}

func example(_ name: String) -> Target {
  .executableTarget(
    name: name, dependencies: ["FileTrees", system], path: "Sources/Examples/\(name)", swiftSettings: specialised)
}

/// A C library of the system.
func library(_ name: String, _ package: String? = nil, apt: String) -> Target {
  .systemLibrary(
    name: name, path: "Sources/Libraries/\(name)", pkgConfig: package, providers: [.apt([apt])])
}

/// What little has to be C, or C++.
func shim(_ name: String, _ dependencies: [Target.Dependency] = [], links library: String? = nil) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Sources/Libraries/\(name)",
    linkerSettings: library.map { [.linkedLibrary($0)] } ?? [])
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: specialised)
}

let system = Target.Dependency.product(name: "SystemPackage", package: "swift-system")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
  name: "ffmount",
  products: [
    .library(name: "FileTrees", targets: ["FileTrees"]),
    .executable(name: "ffmount", targets: ["ffmount"]),
    .executable(name: "ffconvert", targets: ["ffconvert"]),
    .executable(name: "ffpages", targets: ["ffpages"]),
    .executable(name: "ffscan", targets: ["ffscan"]),
    .executable(name: "ffmedia", targets: ["ffmedia"]),
    .executable(name: "ffoffice", targets: ["ffoffice"]),
    .executable(name: "fflayout", targets: ["fflayout"]),
    .executable(name: "ffarchive", targets: ["ffarchive"]),
    .executable(name: "ffdisk", targets: ["ffdisk"]),
    .executable(name: "ffserve", targets: ["ffserve"]),
    .executable(name: "ffremote", targets: ["ffremote"]),
    .executable(name: "ffkeep", targets: ["ffkeep"]),
    .library(name: "MailReading", targets: ["MailReading", "ContentReading"]),
    .library(name: "ZipReading", targets: ["ZipReading", "ContentReading"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
    .package(url: "https://github.com/apple/swift-system", from: "1.8.1"),
  ],
  targets: [
    // Programs: options, exit codes, and what is linked together. ffconvert and ffpages alone link what parses PDFs and images.
    program(
      "ffmount",
      [
        "Bytes", "Locks", "Threads", "Files", "Text", "Index", "Catalogue", "Jobs", "Tree", "AllViews", "FindViews",
        "MailViews", "RenditionViews", "FileTrees", "Assembly",
        "FuseLink", "Mount", "CPosix", logging, system,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    program(
      "ffconvert",
      ["Catalogue", "WorkerKit", "Documents", "Rendering", "Images", "Sandbox", "SandboxTrial"]),
    program("ffpages", ["Documents", "WorkerKit"]),
    program(
      "ffscan",
      [
        "Catalogue", "WorkerKit", "Pixels", "Documents", "Rendering", "Images", "Recognition", "Scanning", "Sandbox",
        "SandboxTrial",
      ]),
    program("ffmedia", ["Catalogue", "WorkerKit", "Media", "SandboxTrial"]),
    program("ffoffice", ["Catalogue", "WorkerKit", "Office", "SandboxTrial"]),
    // Its clock, its dice and its files are for the libraries that it loads, too.
    program(
      "fflayout", ["Catalogue", "WorkerKit", "Office", "Sandbox", "SandboxTrial", "COfficeKit"],
      exporting: ["clock_gettime", "time", "rtl_random_getBytes", "osl_openFile"]),

    program("ffarchive", ["Catalogue", "WorkerKit", "Archives", "SandboxTrial"]),
    program("ffdisk", ["Catalogue", "WorkerKit", "Disks", "SandboxTrial"]),
    program(
      "ffserve",
      [
        "Bytes", "Locks", "Threads", "Files", "Text", "Codecs", "Index", "HTML", "XML", "Catalogue", "Tree", "AllViews",
        "RenditionViews", "FileTrees", "Assembly", "CPosix", "CAvahi", "CQRCode", "COpenSSL", "CCrypt", logging,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"), .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"), .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      ],
      embedding: [
        "Page/page.html", "Page/page.css", "Page/page.js", "Page/write.js", "Page/share.js",
        "Page/manifest.webmanifest", "Page/icon.svg", "Page/icon.png", "API/openapi.json",
      ]),
    program(
      "ffremote",
      [
        "Bytes", "Locks", "Files", "Threads", "Text", "Index", "Jobs", "ServerAnswers", "Tree", "FileTrees", "Assembly",
        "FuseLink", "Mount", "CCurl", "CPosix",
        logging,
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // Without the libraries of Swift's runtime, which it would have in memory for nothing.
    .executableTarget(
      name: "ffkeep", path: "Sources/Programs/ffkeep",
      linkerSettings: [.unsafeFlags(["-nostartfiles", "-static-executable"])]),

    // Assembly: a tree of a source, as options say.
    module(
      "Assembly",
      [
        "Bytes", "Locks", "Files", "Text", "Index", "Zip", "Catalogue", "Tree", "AllViews", "RenditionViews",
        "FileTrees",
        "CPosix", logging, .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),

    // Library: the tree for Swift programs. The only module that others may import.
    module(
      "FileTrees", in: "Library",
      [
        "Bytes", "Locks", "Threads", "Files", "Text", "Index", "Zip", "Catalogue", "Jobs", "Tree", "AllViews",
        "FindViews",
        "MailViews", "RenditionViews", system,
      ]),

    // Examples: what else can be made of the library.
    example("largest-attachments"),
    example("pdf-thumbnails"),

    // Mount: what the kernel asks, and what the tree answers.
    module("FuseLink", in: "Mount", ["Bytes", "Locks", "Threads", "Files", "CFuse3", "CPosix"]),
    // Not optimised in debug builds, in which its `TestTrap` must take memory that nothing reads.
    module(
      "Mount", in: "Mount", ["Bytes", "Locks", "Threads", "Files", "Tree", "FuseLink", "CPosix", logging]),

    // Views: a module a family, which knows no other one; several read compressed files.
    module("Unpacking", in: "Views", ["Bytes", "Threads", "Files", "Codecs", "Index", "Tree"]),
    module(
      "AllViews", in: "Views",
      [
        "Bytes", "Threads", "Files", "Zip", "Tables", "Index", "Catalogue", "Jobs", "Tree", "ArchiveViews", "FindViews",
        "MailViews", "TableViews", "RenditionViews", "Unpacking", "EncryptedFiles",
      ]),
    module(
      "ArchiveViews", in: "Views",
      [
        "Bytes", "Locks", "Threads", "Files", "Codecs", "Cards", "Entries", "Zip", "Tar", "Catalogue", "Jobs", "Tree",
        "Unpacking",
      ]),
    module(
      "MailViews", in: "Views",
      [
        "Bytes", "Locks", "Threads", "Files", "Codecs", "Text", "Mail", "Queries", "Index", "Catalogue", "Jobs", "Tree",
        "Unpacking",
      ]),
    // Its classes end the compiler (6.3.1) where it optimises a module that imports them.
    module(
      "FindViews", in: "Views",
      ["Bytes", "Locks", "Threads", "Files", "Text", "HTML", "Mail", "Queries", "Index", "Catalogue", "Tree"],
      checked),
    module("TableViews", in: "Views", ["Bytes", "Locks", "Tables", "Catalogue", "Jobs", "Tree"]),
    module(
      "RenditionViews", in: "Views",
      ["Bytes", "Locks", "Files", "Threads", "Text", "Cue", "Index", "Catalogue", "Jobs", "Tree"]),

    // Tree: nodes, items, listings, and what a view is; no format.
    module("Tree", ["Bytes", "Locks", "Threads", "Files", "Index", "Catalogue"], optimised),

    // Parsers: bytes in, values out.
    module("Entries", in: "Parsers", ["Bytes", "Text", "Threads"]),
    module("Zip", in: "Parsers", ["Bytes", "Locks", "Codecs", "Entries", "Text", "Threads"]),
    module("Tar", in: "Parsers", ["Bytes", "Entries", "Threads"]),
    module("HTML", in: "Parsers", ["Bytes", "Locks", "Text"]),
    module("RichText", in: "Parsers", ["Text"]),
    module("Mail", in: "Parsers", ["Bytes", "Locks", "Text", "Codecs", "HTML", "RichText"]),
    module("Queries", in: "Parsers", ["Mail"]),
    module("Tables", in: "Parsers", ["Bytes", "Locks", "Text", "Threads", "Cards"]),
    module("Cards", in: "Parsers", ["Bytes", "Text"]),
    module("Cue", in: "Parsers", ["Text"]),
    module("PersonalFolders", in: "Parsers", ["Bytes", "Locks"]),
    module("XML", in: "Parsers", ["Bytes"]),
    module(
      "EncryptedFiles", in: "Parsers", ["Bytes", "Locks", "Codecs", "Entries", "Text", "XML", "Zip", "COpenSSL"]),
    module("ServerAnswers", in: "Parsers", ["Bytes", "Text", "XML"]),

    // What other packages use of them: small and stable.
    module("ContentReading", in: "Parsers", ["Bytes", "Files"]),
    module("MailReading", in: "Parsers", ["Bytes", "Locks", "Mail", "ContentReading"]),
    module("ZipReading", in: "Parsers", ["Bytes", "Codecs", "Entries", "Zip", "ContentReading"]),

    // Conversion: what can be made of what, and the daemon's side of making it.
    module("Catalogue", in: "Conversion", ["Bytes"], optimised),
    module(
      "Jobs", in: "Conversion", ["Bytes", "Locks", "Threads", "Files", "Index", "Catalogue", "COpenSSL", "CPosix"]),

    // Converters: what only the workers link.
    module("Sandbox", in: "Converters", ["Bytes", "CSandbox", "CSeccomp"]),
    module("WorkerKit", in: "Converters", ["Locks", "Catalogue", "Sandbox", "CPosix"], optimised),
    module(
      "SandboxTrial", in: "Converters", ["Bytes", "Files", "Catalogue", "WorkerKit", "Sandbox", "CPosix"]),
    module("Pixels", in: "Converters", ["Bytes", "CJpeg", "CDeflate"], optimised),
    module(
      "Documents", in: "Converters", ["Bytes", "Catalogue", "WorkerKit", "Pixels", "CQpdf", "CQpdfKey", "COpenSSL"]),
    module(
      "Rendering", in: "Converters",
      ["Text", "Catalogue", "WorkerKit", "Pixels", "Documents", "CPoppler", "CPopplerText"]),
    module("Scanning", in: "Converters", ["Catalogue", "WorkerKit", "Pixels", "CLeptonica"], optimised),
    module(
      "Images", in: "Converters",
      ["Bytes", "Catalogue", "WorkerKit", "Pixels", "Pictures", "CVips", "CHeif", "CTiff", "CLibRaw"]),
    module("Pictures", in: "Converters", ["Locks", "Catalogue", "WorkerKit", "CAVCodec"]),
    module("Archives", in: "Converters", ["Bytes", "Codecs", "Catalogue", "WorkerKit", "CArchive"]),
    module("Disks", in: "Converters", ["Bytes", "Catalogue", "WorkerKit", "CSevenZip", "CFileSystems"]),

    module("Media", in: "Converters", ["Bytes", "Catalogue", "WorkerKit", "Pixels", "CFFmpeg", "CAmr", "CGExiv2"]),
    module(
      "Recognition", in: "Converters",
      ["Text", "Files", "Catalogue", "WorkerKit", "Pixels", "CLeptonica", "CTesseract", "CRecognition"]),
    module(
      "Office", in: "Converters",
      [
        "Bytes", "Text", "Codecs", "Entries", "Mail", "RichText", "Zip", "Catalogue", "WorkerKit", "CXML2", "CGsf",
        "CCommonMark",
        "PersonalFolders",
      ]),

    // Base: what all build on.
    module("Locks", in: "Base", ["CPosix"]),
    module("Bytes", in: "Base", ["Locks"]),
    module("Threads", in: "Base", ["Bytes", "Locks", "CPosix"]),
    module("Files", in: "Base", ["Bytes", "Locks", "Threads", "CPosix"]),
    module("Text", in: "Base", ["Locks"]),
    module(
      "Codecs", in: "Base",
      ["Bytes", "Locks", "Threads", "CIsal", "CBzip2", "CLzma", "CZstd", "CLz4", "CBrotli", "COpenSSL"]),
    module("Index", in: "Base", ["Bytes", "Locks", "Threads", "Files", "CSQLite", "CZstd"]),

    // Libraries: doors to C.
    library("CFuse3", "fuse3", apt: "libfuse3-dev"),
    library("CIsal", "libisal", apt: "libisal-dev"),
    library("CBzip2", apt: "libbz2-dev"),
    library("CLzma", "liblzma", apt: "liblzma-dev"),
    library("CZstd", "libzstd", apt: "libzstd-dev"),
    library("CLz4", "liblz4", apt: "liblz4-dev"),
    library("CBrotli", "libbrotlidec", apt: "libbrotli-dev"),
    library("COpenSSL", "libcrypto", apt: "libssl-dev"),
    library("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
    library("CCurl", "libcurl", apt: "libcurl4-openssl-dev"),
    library("CQRCode", "libqrencode", apt: "libqrencode-dev"),
    // Its own pkgConfig file has flags that SwiftPM warns of.
    library("CAvahi", apt: "libavahi-client-dev"),
    library("CCrypt", "libcrypt", apt: "libcrypt-dev"),
    library("CQpdf", "libqpdf", apt: "libqpdf-dev"),
    library("CPoppler", "poppler-glib", apt: "libpoppler-glib-dev"),
    library("CPopplerCpp", "poppler-cpp", apt: "libpoppler-cpp-dev"),
    library("CVips", "vips", apt: "libvips-dev"),
    library("CAVCodec", "libavcodec", apt: "libavcodec-dev"),
    library("CHeif", "libheif", apt: "libheif-dev"),
    library("CGExiv2", "gexiv2", apt: "libgexiv2-dev"),
    library("CAmr", "vo-amrwbenc", apt: "libvo-amrwbenc-dev"),
    library("CLeptonica", "lept", apt: "libleptonica-dev"),
    library("CTesseract", apt: "libtesseract-dev"),
    library("CTiff", "libtiff-4", apt: "libtiff-dev"),
    // Its own pkgConfig file asks for a compiler with OpenMP.
    library("CLibRaw", apt: "libraw-dev"),
    library("CGsf", "libgsf-1", apt: "libgsf-1-dev"),
    library("CXML2", "libxml-2.0", apt: "libxml2-dev"),
    library("CCommonMark", "libcmark-gfm", apt: "libcmark-gfm-dev"),
    library("CSeccomp", "libseccomp", apt: "libseccomp-dev"),
    library("CArchive", "libarchive", apt: "libarchive-dev"),
    library("CDeflate", "libdeflate", apt: "libdeflate-dev"),
    library("CExt2fs", "ext2fs", apt: "libext2fs-dev"),
    shim("CJpeg", links: "jpeg"),
    shim("CFFmpeg", ["CAVCodec"]),
    // The headers of libreofficekit-dev; the library is loaded if it is there.
    shim("COfficeKit"),
    // 7z.so has no headers; the library is loaded if it is there.
    shim("CSevenZip"),
    // The headers of libtsk-dev; the library is loaded if it is there.
    shim("CFileSystems", ["CExt2fs"]),
    shim("CPosix"),
    shim("CSandbox"),
    shim("CPopplerText", ["CPopplerCpp"]),
    shim("CQpdfKey", ["CQpdf"]),
    shim("CRecognition", ["CTesseract"]),

    .target(name: "TestSupport", dependencies: ["Bytes"], path: "Tests/TestSupport", swiftSettings: optimised),
    .target(
      name: "Fuzzing",
      dependencies: [
        "Bytes", "Files", "Codecs", "Entries", "Zip", "Tar", "HTML", "Mail", "Tables", "Cards", "Cue",
        "PersonalFolders", "EncryptedFiles", "ServerAnswers",
        "Index",
        "Catalogue", "Jobs",
        "Tree", "AllViews",
        "MailViews", "RenditionViews", "Unpacking", "Pixels", "CJbig2Dec", "TestSupport",
      ], path: "Tests/Fuzzing", swiftSettings: specialised),
    .systemLibrary(name: "CFuzzer", path: "Tests/CFuzzer"),
    .systemLibrary(name: "CJbig2Dec", path: "Tests/CJbig2Dec", providers: [.apt(["libjbig2dec0-dev"])]),
    .executableTarget(
      name: "fuzz", dependencies: ["Fuzzing", "CFuzzer"], path: "Tests/Fuzz", swiftSettings: specialised),
    // A family of conversions of the tests' own, and its worker program.
    .target(name: "Rotation", dependencies: ["Catalogue"], path: "Tests/Programs/Rotation", swiftSettings: specialised),
    .executableTarget(
      name: "ffrotate", dependencies: ["Catalogue", "Rotation", "WorkerKit"], path: "Tests/Programs/RotateWorker",
      swiftSettings: specialised),
    // A process in the background whose threads want one lock.
    .executableTarget(
      name: "backgroundtrial", dependencies: ["Assembly"], path: "Tests/Programs/BackgroundTrial",
      swiftSettings: specialised),
    // For `scripts/bench pages`.
    .executableTarget(
      name: "findpages", dependencies: ["Catalogue", "WorkerKit", "Pixels", "Scanning"],
      path: "Tests/Programs/FindPages", swiftSettings: specialised),
    // For `scripts/bench library`.
    .executableTarget(
      name: "librarybench", dependencies: ["FileTrees", system], path: "Tests/Programs/LibraryBench",
      swiftSettings: specialised),
    // For `scripts/check sanitize leaks`.
    .executableTarget(
      name: "libraryleaks", dependencies: ["FileTrees", "CPosix", system], path: "Tests/Programs/LibraryLeaks",
      swiftSettings: specialised),
    tests("BytesTests", ["Bytes", "Locks", "Threads", "Text", "Files"]),
    tests(
      "TreeTests",
      [
        "Bytes", "Threads", "Files", "Codecs", "Mail", "Queries", "Index", "Catalogue", "Jobs", "Tree", "AllViews",
        "ArchiveViews", "FindViews", "MailViews", "TableViews", "RenditionViews", "Unpacking", "Fuzzing", "Rotation",
        "ffrotate",
      ]),
    tests("ZipTests", ["Bytes", "Threads", "Codecs", "Entries", "Zip", "Fuzzing"]),
    tests("TarTests", ["Bytes", "Codecs", "Entries", "Tar", "Fuzzing"]),
    tests("ConversionTests", ["Bytes", "Files", "Catalogue", "Jobs", "Sandbox"]),
    tests("HTMLTests", ["Bytes", "HTML", "Fuzzing"]),
    tests("RichTextTests", ["RichText"]),
    tests("MailTests", ["Bytes", "HTML", "Mail", "Text", "Fuzzing"]),
    tests("ParserProductTests", ["MailReading", "ZipReading"]),
    tests("PixelsTests", ["Pixels", "Fuzzing"]),
    tests("ConvertersTests", ["WorkerKit", "Pixels", "Documents", "Rendering", "Media", "Disks"]),
    tests("ScanningTests", ["Catalogue", "WorkerKit", "Pixels", "Scanning"]),
    tests("TablesTests", ["Bytes", "Tables"]),
    tests("EncryptedFilesTests", ["Bytes", "Codecs", "EncryptedFiles", "Fuzzing"]),
    tests("OfficeTests", ["Catalogue", "WorkerKit", "Office", "Fuzzing"]),
    tests("CueTests", ["Cue", "Fuzzing"]),
    tests("PersonalFoldersTests", ["Bytes", "PersonalFolders", "Fuzzing"]),
    tests("ServerAnswersTests", ["Bytes", "ServerAnswers", "Fuzzing"]),
    tests("IndexTests", ["Bytes", "Index"]),
    tests("AnswerTests", ["Bytes", "Files", "Threads", "Tree", "AllViews", "FuseLink", "Mount", "CFuse3", logging]),
    tests("AssemblyTests", ["Assembly", "Bytes", "Files", "Text"]),
    tests("RemoteTests", ["ffremote", "Assembly", "Bytes", "Files", "Index", "ServerAnswers"]),
    tests(
      "ServerTests",
      [
        "ffserve", "Assembly", "Bytes", "Files", "Index", "Threads", "Tree", "AllViews",
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ]),
    tests("FileTreesTests", ["FileTrees", "largest-attachments", "pdf-thumbnails", system]),
    tests("MountTests", []),
  ]
)

// The scripts build all programs in one go, by FFMOUNT_PROGRAMS: `all` leaves out tests and their programs, `local` also
// the server and the client, which a mount does not need.
if let choice = Context.environment["FFMOUNT_PROGRAMS"] {
  var omitted: Set = [
    "TestSupport", "Fuzzing", "CFuzzer", "CJbig2Dec", "fuzz", "Rotation", "ffrotate", "backgroundtrial",
    "findpages", "librarybench", "libraryleaks", "largest-attachments", "pdf-thumbnails", "MailReading", "ZipReading",
    "ContentReading",
  ]
  if choice == "local" {
    omitted.formUnion(["ffserve", "ffremote", "ServerAnswers", "CAvahi", "CCrypt", "CQRCode", "CCurl"])
    package.dependencies.removeAll { dependency in
      guard case .sourceControl(_, let location, _) = dependency.kind else { return false }
      return ["swift-nio", "swift-nio-ssl", "swift-nio-http2"].contains { location.hasSuffix($0) }
    }
  }
  package.targets.removeAll { $0.type == .test || omitted.contains($0.name) }
  package.products.removeAll { omitted.contains($0.name) }
}
